"""Makes the package's wheel (PEP 517 and 660): the files of leveret/ and three about them, or a path to
where they lie. Nothing but Python is needed, and nothing is written beside the wheel."""

import base64
import hashlib
import io
import pathlib
import tarfile
import zipfile

NAME, VERSION = "leveret", "0.1.0"
HERE = pathlib.Path(__file__).resolve().parent
METADATA = f"""\
Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: Learns models as leveret does, and scores with them, by libleveret
License: BSD-3-Clause
Requires-Python: >=3.9
Requires-Dist: numpy
"""
WHEEL = f"""\
Wheel-Version: 1.0
Generator: {NAME}
Root-Is-Purelib: true
Tag: py3-none-any
"""


def _wheel(folder, files):
    """files: {name: bytes}"""
    about = f"{NAME}-{VERSION}.dist-info"
    files = {**files, f"{about}/METADATA": METADATA.encode(), f"{about}/WHEEL": WHEEL.encode()}
    record = ""
    name = f"{NAME}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(folder, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
        wheel.writestr(f"{about}/RECORD", record + f"{about}/RECORD,,\n")
    return name


def _package():
    files = sorted([*(HERE / NAME).glob("*.py"), HERE / NAME / "py.typed"])
    return {f"{NAME}/{file.name}": file.read_bytes() for file in files}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, _package())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _wheel(wheel_directory, {f"{NAME}.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    files = {
        "PKG-INFO": METADATA.encode(),
        **{name: (HERE / name).read_bytes() for name in ("pyproject.toml", "build_backend.py")},
        **_package(),
    }
    base = f"{NAME}-{VERSION}"
    with tarfile.open(pathlib.Path(sdist_directory, f"{base}.tar.gz"), "w:gz") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"{base}/{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return f"{base}.tar.gz"
