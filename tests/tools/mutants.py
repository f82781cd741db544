"""Change the code in one place at a time, and count the changes that the fast tests notice. `make mutants` runs this.

cosmic-ray makes the changes, in two copies of the work tree below .cache/mutants. It changes conditions, comparisons,
operators, numbers, booleans, exceptions, loops and decorators, and no words of messages.
"""

import argparse
import ast
import contextlib
import difflib
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib.util import cache_from_source
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".cache" / "mutants"
EQUIVALENT = ROOT / "tests" / "mutants" / "equivalent.txt"
NEEDED = 90

# The files that decide or change something, and the tests of `make test` that cover them, the nearest first.
UNIT = "tests/unit/plugins/"
CLIENT = "tests/client/test_scenarios.py"
NODE = "module_utils/_management_node"
HOST = "module_utils/_engine_host"
CONTROLLER = f"{UNIT}plugin_utils {UNIT}action"
GROUPS = {
    f"{HOST} adoption claims container gather interfaces leftovers managers": f"{UNIT}{HOST}",
    f"{HOST} mentions motd record rollback runtimes sockets steps": f"{UNIT}{HOST}",
    f"{HOST} safety": f"{UNIT}{HOST} {CONTROLLER}",
    f"{NODE} answer arguments contract cookies engine_list install proxies": f"{UNIT}{NODE} {CLIENT}",
    f"{NODE} client transport": f"{UNIT}{NODE}/test_client.py {UNIT}{NODE}/test_transport.py {CLIENT} "
    "tests/client/test_timing.py tests/client/test_run_cache.py",
    "plugin_utils _run_cache": "tests/client/test_run_cache.py tests/client/test_inventory.py",
    "plugin_utils _approved_plan _batch _facts _fleet_host": CONTROLLER,
    "plugin_utils _conditions _decision _rules _safety_checks": CONTROLLER,
    "plugin_utils _listed _reservations _state _variables": CONTROLLER,
    "action engine_install engine_plan": f"{UNIT}action {UNIT}plugin_utils",
}
TESTS = {
    f"plugins/{folder}/{name}.py": tests
    for files, tests in GROUPS.items()
    for folder, *names in [files.split()]
    for name in names
}
OPERATORS = """
AddNot ReplaceAndWithOr ReplaceOrWithAnd ReplaceUnaryOperator_Delete_Not ReplaceUnaryOperator_USub_UAdd
NumberReplacer ReplaceTrueWithFalse ReplaceFalseWithTrue ExceptionReplacer RemoveDecorator
ZeroIterationForLoop ReplaceBreakWithContinue ReplaceContinueWithBreak
ReplaceComparisonOperator_Eq_NotEq ReplaceComparisonOperator_NotEq_Eq
ReplaceComparisonOperator_Is_IsNot ReplaceComparisonOperator_IsNot_Is
ReplaceComparisonOperator_Lt_LtE ReplaceComparisonOperator_LtE_Lt
ReplaceComparisonOperator_Gt_GtE ReplaceComparisonOperator_GtE_Gt
ReplaceBinaryOperator_Add_Sub ReplaceBinaryOperator_Sub_Add ReplaceBinaryOperator_Mod_Mul
ReplaceBinaryOperator_Mul_FloorDiv ReplaceBinaryOperator_FloorDiv_Mul ReplaceBinaryOperator_Div_Mul
ReplaceBinaryOperator_BitOr_BitAnd ReplaceBinaryOperator_BitAnd_BitOr
"""

# The length of a shown text, and constants of seconds and limits: one more or less makes no difference.
SLICE = re.compile(r"\[: ?\d{2,}\]|\b(shown?|in_short)\(.*, \d{2,}\)")
CONSTANTS = re.compile(r"- (_?[A-Z][A-Z_]+(, )?)+ = [\de., *]+(#.*)?")


class Mutant(NamedTuple):
    """`key`: file and function, the old and the new line. It stays the same if other lines change."""

    path: str
    line: int
    key: tuple[str, str, str]
    code: str


def without_annotations(code: str) -> str:
    tree = ast.parse(code)
    for node in ast.walk(tree):
        for field in {"annotation", "returns"} & set(node._fields):
            setattr(node, field, ast.Constant(None))
    return ast.dump(tree)


def mutant(path: str, operator: str, occurrence: int) -> Mutant | None:
    """Return the mutant, or nothing if Python cannot compile it, or if only an annotation or a size differs."""
    old = (ROOT / path).read_text()
    new = mutate_code(old, get_operator(f"core/{operator}")(), occurrence)
    try:
        if without_annotations(old) == without_annotations(new):
            return None
    except SyntaxError:
        return None
    rows = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0))[2:]
    line = int(rows[0].split()[1][1:].split(",")[0])
    before, after = (
        " ".join(" ".join([sign, *(row[1:] for row in rows[1:] if row[0] == sign)]).split()) for sign in "-+"
    )
    if before.startswith("- @dataclass("):  # frozen only prevents assignments
        return None
    is_size = CONSTANTS.fullmatch(before) or SLICE.sub("", before[1:]) == SLICE.sub("", after[1:])
    if operator == "NumberReplacer" and is_size:
        return None
    defined = [node for node in ast.walk(ast.parse(old)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    names = [node.name for node in defined if node.lineno <= line <= (node.end_lineno or 0)]
    return Mutant(path, line, (f"{path} {'.'.join(names) or '-'}", before, after), new)


def sample(paths: list[str], number: int, seed: int) -> list[Mutant]:
    """Return mutants at random. The number of a file is in proportion to the number of its places to change.

    The order is a hash of each changed line, so that a sample stays the same where the code stays the same.
    """
    places = []
    for path in paths:
        code = (ROOT / path).read_text()
        nodes, lines = list(ast_nodes(get_ast(code))), code.splitlines()
        for name in OPERATORS.split():
            operator = get_operator(f"core/{name}")()
            rows = [position[0][0] for node in nodes for position in operator.mutation_positions(node)]
            for occurrence, row in enumerate(rows):
                text = lines[row - 1].strip()
                same = sum(lines[other - 1].strip() == text for other in rows[:occurrence])
                order = sha256(f"{seed} {path} {name} {text} {same}".encode()).digest()
                places.append((order, path, name, occurrence))
    chosen: dict[str, Mutant] = {}
    for _, *place in sorted(places):
        if len(chosen) < number and (found := mutant(*place)):
            chosen.setdefault(found.code, found)
    print(f"{len(chosen)} of {len(places)} mutants of {len(paths)} files, seed {seed}", flush=True)
    return list(chosen.values())


def copy_tree(number: int) -> Path:
    copy = FOLDER / str(number)
    shutil.rmtree(copy, ignore_errors=True)
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    namespace = copy / ".cache" / "dev" / "ansible_collections" / "slb"
    namespace.mkdir(parents=True)
    (namespace / "fleet").symlink_to("../../../..")
    return copy


def replace(file: Path, code: str) -> None:
    """Write a file, and remove its compiled code, which Python would use again within one second."""
    file.write_text(code)
    Path(cache_from_source(str(file))).unlink(missing_ok=True)


def passes(copy: Path, tests: str, limit: float) -> bool:
    """Run tests in a copy. Tests that take longer than the limit fail."""
    options = ["-x", "-q", "-m", "not long", "-p", "no:cacheprovider"]
    search = {"ANSIBLE_COLLECTIONS_PATH": str(copy / ".cache" / "dev")}
    with (copy / "log").open("wb") as log:
        process = subprocess.Popen(
            ["nice", "-n", "10", sys.executable, "-m", "pytest", *options, *tests.split()],
            cwd=copy,
            env={**os.environ, **search, "PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        return process.wait(limit) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def main(number: int, seed: int, only: str) -> int:
    begin = time.monotonic()
    lines = iter(EQUIVALENT.read_text().partition("\n\n")[2].splitlines())
    reasons = {
        (place.partition(" = ")[0], old, new): place for place, old, new in zip(lines, lines, lines, strict=True)
    }
    paths = [path for path in TESTS if only in path]
    mutants = sample(paths, number, seed)
    copies: queue.Queue[Path] = queue.Queue()
    for worker in range(2):
        copies.put(copy_tree(worker))

    def measure(tests: str) -> float:
        """Return the seconds of the tests without a change."""
        copy, started = copies.get(), time.monotonic()
        if not passes(copy, tests, 600):
            raise SystemExit(f"{tests} fails without a change. Output: {copy}/log")
        copies.put(copy)
        return time.monotonic() - started

    def is_killed(found: Mutant) -> bool:
        copy = copies.get()
        file, tests = copy / found.path, TESTS[found.path]
        original = file.read_text()
        replace(file, found.code)
        try:
            return not passes(copy, tests, 10 + 3 * seconds[tests])
        finally:
            replace(file, original)
            copies.put(copy)

    killed = {}
    with ThreadPoolExecutor(2) as side_by_side:
        all_tests = sorted({TESTS[path] for path in paths})
        seconds = dict(zip(all_tests, side_by_side.map(measure, all_tests), strict=True))
        for found, is_noticed in zip(mutants, side_by_side.map(is_killed, mutants), strict=True):
            killed[found] = is_noticed
            if not is_noticed:
                print("", *found.key, reasons.get(found.key, f"  line {found.line}"), sep="\n", flush=True)
    print(f"\n{'killed':>6} {'of':>4}  file")
    counted = [found for found in mutants if killed[found] or found.key not in reasons]
    for path in [*paths, "all"]:
        of_file = [killed[found] for found in counted if path in {found.path, "all"}]
        print(f"{sum(of_file):>6} {len(of_file):>4}  {path}")
    percent = 100 * sum(of_file) / len(of_file)
    minutes = (time.monotonic() - begin) / 60
    print(f"{percent:.1f} % killed, {NEEDED} needed; {len(mutants) - len(counted)} equivalent; {minutes:.0f} minutes")
    return 0 if percent >= NEEDED else 1


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--number", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default="", help="part of the paths of the files")
    given = options.parse_args()
    sys.exit(main(given.number, given.seed, given.only))
