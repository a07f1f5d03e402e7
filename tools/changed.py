"""Which files under src/ changed: for checks that are too slow for the whole tree."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def git(*arguments):
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else []


def changed_files(suffix, commits):
    """Files under src/ with this suffix that changed, newest change first: new ones, those that differ from the last commit
    and those of commits that origin/main does not have; where there are none (a fresh clone), those of the last `commits`
    commits that changed src/."""

    def there(names):
        return [n for n in dict.fromkeys(names) if n.startswith("src/") and n.endswith(suffix) and (ROOT / n).is_file()]

    names = there(git("ls-files", "--others", "--exclude-standard", "src") + git("diff", "--name-only", "HEAD") +
                  git("log", "--name-only", "--format=", "origin/main..HEAD"))
    return names or there(git("log", "--name-only", "--format=", "-n", str(commits), "--", "src"))
