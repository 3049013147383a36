#!/usr/bin/env python3
"""What is installed, package by package, and the source tarball.

    tests/packages/structure.py BUILD

Each installed file is of one component; of each component there is one package, but of `bench`; all that
says a version says the same; pages as HTML name each other and nothing that is not there; the tarball
holds the tree, with the same bytes when it is made of itself.
"""

import collections
import html.parser
import os
import re
import subprocess
import sys
import tarfile
import tempfile

BUILD = os.path.abspath(sys.argv[1])
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
NOT_PACKAGED = {"bench"}
failed = False


def check(what, right, but=""):
    global failed
    failed = failed or not right
    print("ok   " + what if right else "FAIL %s: %s" % (what, but))


def read(*path):
    with open(os.path.join(*path)) as file:
        return file.read()


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        sys.exit("%s: %s" % (" ".join(command), done.stdout))
    return done.stdout


def files_below(folder):
    return {os.path.relpath(os.path.join(at, name), folder)
            for at, _, names in os.walk(folder) for name in names}


def installed(work, component=None):
    folder = os.path.join(work, component or "all")
    os.mkdir(folder)
    run("cmake", "--install", BUILD, "--prefix", folder, *(["--component", component] if component else []))
    return files_below(folder)


def settings():
    """What CPack reads: {name: value}"""
    return dict(re.findall(r'^set\((CPACK_\w+) "([^"]*)"\)', read(BUILD, "CPackConfig.cmake"), re.M))


def check_components(work, cpack, version):
    packaged = cpack["CPACK_COMPONENTS_ALL"].split(";")
    names = [cpack.get("CPACK_DEBIAN_%s_PACKAGE_NAME" % name.upper()) for name in packaged]
    wanted = ["leveret", "libleveret" + version.split(".")[0], "libleveret-dev", "python3-leveret"]
    if os.path.exists(os.path.join(BUILD, "bin/leveret-mpi")):
        wanted.append("leveret-mpi")
    check("each component has its package", names == wanted, "%s, not %s" % (names, wanted))

    everything = installed(work)
    owners = collections.defaultdict(list)
    of = {}
    for component in [*packaged, *NOT_PACKAGED]:
        of[component] = installed(work, component)
        for name in of[component]:
            owners[name].append(component)
    several = {name: who for name, who in owners.items() if len(who) > 1}
    check("each file is of one component", not several, several)
    left = everything - set(owners)
    check("and each has one", not left, sorted(left))
    only = {name for name in set(owners) - everything
            if not re.match(r"share/doc/|share/lintian/overrides/|lib/python3/dist-packages/leveret", name)}
    check("packages have nothing else but texts and the Python package", not only, sorted(only))
    for component, name in zip(packaged, names):
        for text in ("copyright", "changelog.Debian"):
            check("%s has its %s" % (name, text), "share/doc/%s/%s" % (name, text) in of[component], "none")
    modules = {name for name in os.listdir(os.path.join(ROOT, "python/leveret"))
               if name.endswith((".py", ".typed"))}
    there = {os.path.basename(name) for name in of["python"] if "/dist-packages/leveret/" in name}
    check("all of Python's modules are there", modules == there, modules ^ there)
    link = [name for name in of["development"] if name.endswith("/libleveret.so")]
    check("the name that programs are linked by is of the development files", len(link) == 1, link)
    license = read(ROOT, "LICENSE").split("All rights reserved.")[1].split()
    text = read(work, "program/share/doc/leveret/copyright").split("License: BSD-3-Clause\n")[1]
    check("copyright has the words of LICENSE", [word for word in text.split() if word != "."] == license, text)


def check_version(work, cpack, version):
    numbers = re.findall(r"LEVERET_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)",
                         read(ROOT, "include/leveret/leveret.h"))
    log = read(work, "program", "share/doc/leveret/changelog.Debian")
    says = {
        "leveret.h": ".".join(numbers),
        "build_backend.py": re.search(r'VERSION = "leveret", "(.*)"', read(ROOT, "python/build_backend.py"))[1],
        "packages": cpack["CPACK_PACKAGE_VERSION"],
        "changelog.Debian": re.match(r"leveret \((.*)-[^-]*\)", log)[1],
        "CHANGELOG.md": re.search(r"^## (?:Unreleased \()?([0-9.]+)", read(ROOT, "CHANGELOG.md"), re.M)[1],
    }
    check("the version is one", set(says.values()) == {version}, "%s, not %s" % (says, version))


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(read(path))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.links += [value for name, value in attributes.items() if name in ("href", "src")]
        self.anchors.add(attributes.get("id"))


def check_html(work):
    folder = os.path.join(work, "all/share/doc/leveret/html")
    if not os.path.isdir(folder):
        return print("no HTML: mandoc or scdoc is not installed")
    pages = {name: Page(os.path.join(folder, name)) for name in os.listdir(folder) if name.endswith(".html")}
    man = os.path.join(work, "all/share/man")
    names = {os.path.basename(name) for name in files_below(man)}
    check("each page is there as HTML", {name + ".html" for name in names} == set(pages) - {"index.html"},
          set(pages) ^ names)
    dead = []
    for name, page in pages.items():
        for link in page.links:
            file, _, anchor = link.partition("#")
            if not os.path.exists(os.path.join(folder, file)):
                dead.append((name, link))
            elif anchor and anchor not in pages[file or name].anchors:
                dead.append((name, link))
    check("no link is dead", not dead, dead)
    check("the index has each page", set(pages) - {"index.html"} <= set(pages["index.html"].links))
    lonely = []
    for name in names:
        text = read(folder, name + ".html")
        for other in re.findall(r"(?<![\w-])([\w-]+(?:</b>)?\(\d\))", read_man(man, name)):
            other = other.replace("(", ".").rstrip(")")
            if other in names and 'href="%s.html"' % other not in text:
                lonely.append((name, other))
    check("a page that is named is linked", not lonely, lonely)


def read_man(man, name):
    """The page below its title."""
    text = read(man, "man" + name[-1], name)
    return re.sub(r"\\f.", "", text.split(".SH", 1)[1])


def check_tarball(work, version):
    """Of the tree, then of what came out."""
    first, second = os.path.join(work, "first"), os.path.join(work, "second")
    os.mkdir(first)
    os.mkdir(second)
    environment = dict(os.environ, SOURCE_DATE_EPOCH="1700000000")
    run(os.path.join(ROOT, "scripts/source-tarball"), first, env=environment)
    name = "leveret-%s.tar.gz" % version
    with tarfile.open(os.path.join(first, name)) as tar:
        members = tar.getmembers()
        tar.extractall(work)
    unpacked = os.path.join(work, "leveret-" + version)
    check("the tarball has one folder", all(m.name.split("/")[0] == "leveret-" + version for m in members))
    check("and one time, and one owner", {(m.mtime, m.uid, m.gid) for m in members} == {(1700000000, 0, 0)})
    tree = subprocess.run([os.path.join(ROOT, "scripts/tree")], capture_output=True, check=True).stdout
    names = subprocess.run(["tar", "-t"], input=tree, capture_output=True, check=True).stdout.decode().split()
    got = {os.path.relpath(m.name, "leveret-" + version) for m in members}
    check("it holds the tree", got == {os.path.normpath(n) for n in names} and "CMakeLists.txt" in got)
    del environment["SOURCE_DATE_EPOCH"]
    run(os.path.join(unpacked, "scripts/source-tarball"), second, env=environment, umask=0o077)
    with open(os.path.join(first, name), "rb") as a, open(os.path.join(second, name), "rb") as b:
        check("of what was unpacked the same is made", a.read() == b.read(), "other bytes")


with tempfile.TemporaryDirectory() as folder:
    number = re.search(r"^project\(leveret VERSION ([0-9.]+)", read(ROOT, "CMakeLists.txt"), re.M)[1]
    check_components(folder, settings(), number)
    check_version(folder, settings(), number)
    check_html(folder)
    check_tarball(folder, number)
sys.exit(failed)
