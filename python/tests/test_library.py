"""Where the library is looked for. As test_leveret.py needs it: LEVERET_LIBRARY."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from importlib import metadata

import leveret


class LibraryTest(unittest.TestCase):
    def imported(self, folder=pathlib.Path(leveret.__file__).parents[1], **environment):
        """What an interpreter of its own says to the package in the folder."""
        base = {key: value for key, value in os.environ.items() if not key.startswith("LEVERET")}
        return subprocess.run(
            [sys.executable, "-c", "import leveret; print(leveret.version())"],
            env={**base, **environment},
            cwd=folder,  # where it looks first
            text=True,
            capture_output=True,
        )

    def test_named(self):
        done = self.imported(LEVERET_LIBRARY=os.environ["LEVERET_LIBRARY"])
        self.assertEqual(done.stdout.strip(), leveret.version(), done.stderr)

    def test_named_and_not_there(self):
        """Where one is named, no other is taken."""
        for name, words in {
            "/nowhere/libleveret.so.0": "LEVERET_LIBRARY names another file",
            "libm.so.6": "lacks a function",
            os.devnull: "LEVERET_LIBRARY names another file",
        }.items():
            done = self.imported(LEVERET_LIBRARY=name)
            self.assertEqual(done.returncode, 1)
            self.assertIn("ImportError: libleveret cannot be loaded", done.stderr)
            self.assertIn(name, done.stderr)
            self.assertIn(words, done.stderr)

    def test_beside_the_package(self):
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, "leveret")
            shutil.copytree(pathlib.Path(leveret.__file__).parent, package)
            shutil.copy(os.environ["LEVERET_LIBRARY"], package / "libleveret.so.0")
            done = self.imported(folder)
            self.assertEqual(done.stdout.strip(), leveret.version(), done.stderr)

    def test_versions_agree(self):
        """Where pip has installed the package."""
        try:
            installed = metadata.version("leveret")
        except metadata.PackageNotFoundError:
            self.skipTest("the package is not installed")
        self.assertEqual(installed, leveret.version())


if __name__ == "__main__":
    unittest.main()
