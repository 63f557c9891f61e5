"""Make requirements*.lock from pyproject.toml: `make lock`. Needs uv (`pip install uv`); a person runs it when a dependency moves.

Four files, since pip's hash mode is all or nothing and PyTorch comes in two builds under one version: requirements.lock (what runs),
requirements-dev.lock (what checks it), requirements-torch.lock (torch, with the hashes of both builds), requirements-cuda.lock (what the
ordinary build needs on Linux, installed only where no CPU build could be had).
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TORCH = "2.13.0"

# SHA-256 of the CPU index's wheels of TORCH, one a platform and Python 3.11 to 3.14. The ordinary build's come from the resolver.
CPU_BUILD_HASHES = (
    "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b",  # x86_64, 3.11
    "4ca4a9394b0c771238a4f73590fdbbc4debad85ed0fa63d026ae1b085da7d6e2",  # x86_64, 3.12
    "3fbf9c9d1f3c10c2d59d04aca426dee9ccc6ceb32d255c61e93acc3b4f75fae6",  # x86_64, 3.13
    "d20fa53ee744502fa4c69818a720b05ca0d37abd055d4f6e66cae155114bc691",  # x86_64, 3.14
    "84453b69508ec79902f899c5ed9495acb9e2bbe9fda5f1d5d6f19e3c3842e1a7",  # aarch64, 3.11
    "6f307c2c32d764ffc6ff6893b801fad6d4752f3e67966cb8abf1843427c02604",  # aarch64, 3.12
    "0b8f7d0423027ae8b90c7977c627f3379f325363a08224dffad9b4b2d684a83d",  # aarch64, 3.13
    "ca021f9eb2f8345c83fa03e3a04587308afb8df71bd472670b3ece00df58621c",  # aarch64, 3.14
)
CUDA_ONLY = re.compile(r"(nvidia-|cuda-|triton==)")


def resolve(*options: str) -> list[str]:
    """One block a requirement: its line, then the lines of its hashes."""
    command = ["uv", "pip", "compile", "pyproject.toml", "--universal", "--python-version", "3.11", *options]
    command += ["--generate-hashes", "--no-header", "--no-annotate", "--quiet"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"uv could not resolve pyproject.toml:\n{done.stderr}")
    return re.split(r"\n(?=[A-Za-z0-9])", done.stdout.strip())


def write(name: str, comment: str, blocks: list[str]) -> None:
    (ROOT / name).write_text(f"# {comment} Made by `make lock`.\n" + "\n".join(blocks) + "\n")
    sys.stdout.write(f"{name}: {len(blocks)}\n")


def main() -> None:
    everything = resolve("--group", "dev")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as pins:
        pins.write("\n".join(everything))
        pins.flush()
        runtime = set(resolve("--constraint", pins.name))
    torch = next(block for block in everything if block.startswith(f"torch=={TORCH}"))
    hashes = sorted({*re.findall(r"sha256:([0-9a-f]{64})", torch), *CPU_BUILD_HASHES})
    pinned = f"torch=={TORCH}" + "".join(f" \\\n    --hash=sha256:{value}" for value in hashes)
    rest = [block for block in everything if block != torch]
    portable = [block for block in rest if not CUDA_ONLY.match(block)]
    write("requirements.lock", "What runs, for Python 3.11 to 3.14, but torch.", [b for b in portable if b in runtime])
    write("requirements-dev.lock", "What checks it: add to requirements.lock.", [b for b in portable if b not in runtime])
    write("requirements-torch.lock", "torch alone, with the hashes of the CPU index's build and of the ordinary one.", [pinned])
    write("requirements-cuda.lock", "What torch's ordinary build needs on Linux.", [b for b in rest if CUDA_ONLY.match(b)])


if __name__ == "__main__":
    main()
