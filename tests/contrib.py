#!/usr/bin/env python3
"""What contrib/ ships is well-formed, and asks the program for what it takes.

    tests/contrib.py LEVERET

Where systemd-analyze(1) is, it verifies the units, too.
"""

import configparser
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
CONTRIB = os.path.join(ROOT, "contrib")
failed = False


def fail(where, what):
    global failed
    failed = True
    print("FAIL %s: %s" % (where, what))


def options_of(verb, known={}):
    if verb not in known:
        run = subprocess.run([PROGRAM, verb, "--help_all"], capture_output=True, text=True)
        names = re.findall(r"^ +(-\S+)", run.stdout, re.M) if run.returncode == 0 else None
        known[verb] = None if names is None else {n for part in names for n in part.split(",")}
    return known[verb]


def check_command(where, words):
    """`words` begin with the verb."""
    options = options_of(words[0])
    if options is None:
        return fail(where, "no such verb: " + words[0])
    for word in words[1:]:
        name = word.split("=")[0]
        if re.match(r"-[a-zA-Z]$|--", name) and name not in options:
            fail(where, "%s takes no %s" % (words[0], name))


def commands_in(text):
    """Of a line of the shell, what calls leveret."""
    for part in re.split(r"&&|;|\|\|?|'", text):
        words = part.split()
        if words and os.path.basename(words[0]) == "leveret":
            yield words[1:]


def check_unit(name, known):
    """Sections and names as systemd.unit(5) has them."""
    sections = {
        "Unit": {"Description", "Documentation", "Requires", "After", "Wants"},
        "Service": {"Type", "ExecStart", "ExecReload", "Restart", "User", "StateDirectory", "ProtectSystem",
                    "ProtectHome", "PrivateTmp", "NoNewPrivileges", "WorkingDirectory"},
        "Socket": {"ListenStream", "FileDescriptorName", "Service"},
        "Install": {"WantedBy"},
    }
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str
    parser.read(os.path.join(CONTRIB, "systemd", name))
    kind = name.rsplit(".", 1)[1].capitalize()
    if kind not in parser:
        fail(name, "has no section [%s]" % kind)
    for section in parser.sections():
        if section not in sections:
            fail(name, "there is no section [%s]" % section)
            continue
        for key, value in parser[section].items():
            if key not in sections[section]:
                fail(name, "[%s] has no %s" % (section, key))
            if key == "ExecStart":
                words = shlex.split(value)
                if words[0] != "/usr/local/bin/leveret":
                    fail(name, "starts " + words[0])
                check_command(name, words[1:])
            for unit in value.split() if key in ("Requires", "After", "Service") else []:
                if unit not in known:
                    fail(name, "names %s, which is not shipped" % unit)
            if key == "Documentation":
                page, number = re.fullmatch(r"man:(\S+)\((\d)\)", value).groups()
                if not os.path.exists(os.path.join(ROOT, "man", "%s.%s.scd" % (page, number))):
                    fail(name, "there is no %s" % value)


def check_cron():
    for line in open(os.path.join(CONTRIB, "cron/leveret")):
        line = line.rstrip("\n")
        if line.startswith("#") or re.fullmatch(r"[A-Z]+=\S+", line):
            continue
        fields = line.split(None, 6)
        if len(fields) != 7 or not all(re.fullmatch(r"[-*/,0-9]+", field) for field in fields[:5]):
            fail("cron", line)
            continue
        command = fields[6]
        if "%" in command:
            fail("cron", "% ends a line of cron")
        run = subprocess.run(["sh", "-n", "-c", command], capture_output=True, text=True)
        if run.returncode != 0:
            fail("cron", run.stderr)
        calls = list(commands_in(command.split("sh -c", 1)[1]))
        if len(calls) != 2:
            fail("cron", "calls leveret %d times" % len(calls))
        for words in calls:
            check_command("cron", words)


def check_dockerfile():
    text = open(os.path.join(CONTRIB, "docker/Dockerfile")).read().replace("\\\n", "")
    presets = json.load(open(os.path.join(ROOT, "CMakePresets.json")))
    names = {preset["name"] for preset in presets["configurePresets"]}
    seen = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        word, rest = line.split(None, 1)
        seen.append(word)
        if word not in ("FROM", "COPY", "WORKDIR", "RUN", "USER", "EXPOSE", "ENTRYPOINT", "CMD"):
            fail("Dockerfile", "there is no " + word)
        if word == "RUN":
            if subprocess.run(["sh", "-n", "-c", rest]).returncode != 0:
                fail("Dockerfile", rest)
            for name in re.findall(r"--preset (\S+)", rest):
                if name not in names:
                    fail("Dockerfile", "there is no preset " + name)
            for script in re.findall(r"\./(\S+)", rest):
                if not os.access(os.path.join(ROOT, script), os.X_OK):
                    fail("Dockerfile", "cannot run " + script)
        if word == "ENTRYPOINT" and json.loads(rest) != ["leveret"]:
            fail("Dockerfile", rest)
        if word == "CMD":
            check_command("Dockerfile", json.loads(rest))
    if seen[0] != "FROM" or "CMD" not in seen:
        fail("Dockerfile", "has %s" % seen)


def main():
    units = sorted(os.listdir(os.path.join(CONTRIB, "systemd")))
    if len(units) < 5:
        fail("systemd", "there are %s" % units)
    for name in units:
        check_unit(name, units)
    check_cron()
    check_dockerfile()
    if shutil.which("systemd-analyze"):
        run = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
                              *[os.path.join(CONTRIB, "systemd", name) for name in units]],
                             capture_output=True, text=True)
        # That the program is not installed here is nobody's fault.
        for line in run.stderr.splitlines():
            if "contrib" in line and "is not executable" not in line:
                fail("systemd-analyze", line)
    sys.exit(failed)


main()
