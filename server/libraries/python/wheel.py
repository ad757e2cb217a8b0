"""Writes the wheel of sprites_client.py, a zip with a list of its files: python3 wheel.py FOLDER VERSION README LICENCE"""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path


def write(folder: Path, version: str, readme: Path, licence: Path) -> None:
    about = f"sprites_client-{version}.dist-info"
    metadata = f"""Metadata-Version: 2.1
Name: sprites-client
Version: {version}
Summary: A desktop without a window, for programs that throw and catch sprites
License: MIT
Requires-Python: >=3.11
Description-Content-Type: text/markdown

"""
    files = {
        "sprites_client.py": Path(__file__).with_name("sprites_client.py").read_bytes(),
        f"{about}/LICENSE": licence.read_bytes(),
        f"{about}/METADATA": metadata.encode() + readme.read_bytes(),
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nGenerator: sprites\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},sha256={_hash(content)},{len(content)}\n" for name, content in files.items())
    files[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    with zipfile.ZipFile(folder / f"sprites_client-{version}-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)  # of 1980: the same bytes each time
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)


def _hash(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
