# SPDX-License-Identifier: GPL-3.0-or-later
"""`report --html` and `--markdown`: pages that need nothing from elsewhere, and that nothing of a dump
gets out of."""

import base64
import csv
import hashlib
import os
import re
import tempfile
from html.parser import HTMLParser

from forged import Image
from lib import Boot, boots, check, check_equal, kernel_names

VOID = {"meta", "br"}
ELEMENTS = {"html", "head", "meta", "title", "style", "body", "script", "p", "h1", "h2", "ul", "li", "code", "dl", "dt", "dd",
            "nav", "a", "section", "details", "summary", "pre", "span", "mark", "div", "table", "thead", "tbody", "tr", "th",
            "td", "svg", "defs", "marker", "path", "rect", "text"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "id", "class", "href", "open", "role", "aria-label", "width",
              "height", "x", "y", "rx", "d", "viewbox", "refx", "refy", "markerwidth", "markerheight", "orient", "marker-end"}


class Page(HTMLParser):
    """What a browser sees of it: elements that are all closed in turn, and the text within them."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.counts, self.ids, self.targets, self.texts, self.rows = [], {}, [], [], {}, {}
        self.policy, self.section, self.marked = "", None, []
        self.feed(text)
        self.close()
        check(not self.open, f"not closed: {self.open}")

    def handle_starttag(self, tag, attrs):
        check(tag in ELEMENTS, f"an element {tag}")
        self.counts[tag] = self.counts.get(tag, 0) + 1
        for key, value in attrs:
            check(key in ATTRIBUTES, f"{tag} with {key}={value}")
            if key == "id":
                self.ids.append(value)
            if key in ("href", "marker-end"):
                check(re.fullmatch(r"#\w+|url\(#\w+\)", value), f"a reference to {value}")
                self.targets.append(re.search(r"#(\w+)", value)[1])
        given = dict(attrs)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        if tag in ("section", "details"):
            self.section = given["id"]
        if tag == "tr":
            self.rows.setdefault(self.section, []).append([])
        if tag in ("td", "th"):
            self.rows[self.section][-1].append("")
        if tag == "mark":
            self.marked.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        check(self.open and self.open.pop() == tag, f"</{tag}> closes another element")

    def handle_data(self, data):
        tag = self.open[-1] if self.open else None
        self.texts[tag] = self.texts.get(tag, "") + data
        if tag in ("td", "th"):
            self.rows[self.section][-1][-1] += data
        if tag == "mark":
            self.marked[-1] += data

    def handle_comment(self, data):
        check(False, f"a comment: {data}")


def page_of(program, dump, folder, options=""):
    """The text of a page, and what is in it; sound in any case."""
    path = os.path.join(folder, "page.html")
    found = program.result(dump, f"report --html {path} {options}".strip())
    with open(path, encoding="utf-8") as file:
        text = file.read()
    check_equal(found, {"file": path, "bytes": len(text.encode())}, "what is said of the file")
    page = Page(text)
    check_equal(len(page.ids), len(set(page.ids)), "ids")
    lost = set(page.targets) - set(page.ids)
    check(not lost, f"references to nothing: {lost}")
    check_equal((page.counts["script"], page.counts["style"]), (1, 1), "scripts and styles")
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.texts[kind].encode()).digest()).decode()
        check(f"{kind}-src 'sha256-{digest}'" in page.policy, f"{kind} is not the policy's: {digest}")
    check(page.policy.startswith("default-src 'none'; "), page.policy)
    check("://" not in page.texts["script"] + page.texts["style"], "something from elsewhere")
    return text, page


def says_what_commands_say(program, boot, folder, notes):
    text, page = page_of(program, boot.dump, folder)
    notes.append(f"{len(text) // 1024} KiB")
    check(len(text) < 1 << 20, f"{len(text)} bytes")
    analysis = program.result(boot.dump, "analyze")
    check_equal(page.texts["h1"], analysis["findings"][0]["summary"], "heading")
    for evidence in analysis["findings"][0]["evidence"]:
        check(evidence["text"] in page.texts["li"], f"no {evidence['text']}")
    check(analysis["signature"] in page.texts["dd"], "no signature")
    # With escapes, as in text.
    listed = program.run(["-q", "--csv", "-c", "ps", boot.dump], status=0).text.splitlines()
    tasks = [(task["pid"], task["comm"]) for task in csv.DictReader(listed)]
    heads, *rows = page.rows["tasks"]
    check_equal([(row[heads.index("pid")], row[heads.index("comm")]) for row in rows], tasks, "tasks")
    check_equal(len(page.rows["modules"]) - 1, len(program.result(boot.dump, "mod")), "modules")
    memory = program.result(boot.dump, "sys")["memory"] / (1 << 20)
    check(f"{memory:.1f} MiB in all" in page.texts["p"], f"memory is not {memory:.1f} MiB")
    for line in program.text(boot.dump, "bt").splitlines():
        check(line in page.texts["pre"] + page.texts["span"] or "ffff" in line, f"bt has {line}")
    log = program.text(boot.dump, "log").splitlines()
    check(all(line in log for line in page.marked), "marked lines that the log does not have")
    panic = [line for line in log if "Kernel panic - not syncing" in line]
    check(set(panic) <= set(page.marked), f"not marked: {panic}")
    check(len(page.marked) < len(log) - 100, f"{len(page.marked)} lines of {len(log)} are marked")
    return page


def draws_locks(program, boot, folder):
    _, page = page_of(program, boot.dump, folder)
    deadlocks = [finding for finding in program.result(boot.dump, "analyze")["findings"] if finding["kind"] == "deadlock"]
    check(deadlocks, "no deadlock")
    for finding in deadlocks:
        for link in finding["chain"]:
            check(f'{link["task"]["pid"]} "{link["task"]["comm"]}"' in page.texts["text"], f"no {link['task']}")


HOSTILE = b"<script>x()//'\""  # a comm has 15 bytes
LOG = b"Linux version "


def nothing_gets_out(program, boot, image, folder):
    """Names and lines that are HTML stay text, and change no element of the page."""
    _, plain = page_of(program, boot.dump, folder)
    comm = program.result(boot.dump, "analyze")["task"]["comm"].encode()
    names = image.find_all(comm.ljust(16, b"\0"))
    lines = image.find_all(LOG)
    check(names and lines, "nothing to change")
    with image.patched({**{at: HOSTILE.ljust(16, b"\0") for at in names},
                        **{at: b"</pre><script>"[:len(LOG)] for at in lines}}):
        text, page = page_of(program, image.path, folder)
        markdown = program.text(image.path, "report --markdown")
    check("<script>x" not in text and "</pre><script>" not in text, "it is in the page as it is")
    check_equal(page.texts["script"], plain.texts["script"], "the script")
    check("</pre><script>" in page.texts["pre"] and HOSTILE.decode() in page.texts["td"], "names are lost")
    for kind in ("h1", "pre", "section", "details", "table", "svg", "mark"):
        check_equal(page.counts.get(kind), plain.counts.get(kind), f"elements {kind}")
    check(HOSTILE.decode() in markdown, "markdown lost the name")


def fences(lines):
    """(what is outside of the fences, what is inside), as CommonMark has it."""
    outside, inside, fence = [], [], None
    for line in lines:
        mark = re.match(r"(`{3,})(\w*)$", line)
        if fence and mark and len(mark[1]) >= len(fence) and not mark[2]:
            fence = None
        elif fence:
            inside.append(line)
        elif mark:
            fence = mark[1]
        else:
            outside.append(line)
    check(fence is None, "a fence is open")
    return outside, inside


def is_a_ticket(program, boot, image):
    outside, inside = fences(program.text(boot.dump, "report --markdown").split("\n"))
    check_equal({line for line in outside if line and not re.fullmatch("### [A-Z][A-Za-z ]+", line)}, set(), "outside of fences")
    summary = program.result(boot.dump, "analyze")["findings"][0]["summary"]
    check(any(summary in line for line in inside), "no summary")
    lines = program.result(boot.dump, "report --markdown")
    check_equal(len(lines), 1, "JSON")
    at = image.find_all(LOG)
    with image.patched({place: b"\n```````\n### x"[:len(LOG)] for place in at}):
        outside, _ = fences(program.text(image.path, "report --markdown").split("\n"))
    check("### x" not in outside, "the log got out of its fence")


def files_are_guarded(program, boot, image, folder):
    """The dump is not written to, and no file without a page."""
    before = hashlib.sha256(image.bytes).digest()
    answer, = program.answers(image.path, [f"report --html {image.path}"])
    check(not answer["ok"] and "is the dump" in answer["error"], str(answer))
    check_equal(hashlib.sha256(image.bytes).digest(), before, "the dump")
    for line, why in ((f"report --html {folder}/no/such", "no/such"),
                      (f"report --html {folder}/x --markdown", "exclude"), ("report --html", "needs FILE")):
        answer, = program.answers(boot.dump, [line])
        check(not answer["ok"] and why in answer["error"], f"{line}: {answer}")
    check(not os.path.exists(os.path.join(folder, "x")), "a file was made")


def run(session):
    program = session.program
    with tempfile.TemporaryDirectory() as folder:
        for kernel in kernel_names():
            for name in ("boot1", "null", "bug", "stuck"):
                boot = Boot(kernel, name)
                if os.path.isdir(boot.folder):
                    with session.case(f"{boot.label}: a page says what the commands say") as notes:
                        says_what_commands_say(program, boot, folder, notes)
            boot = Boot(kernel, "stuck")
            if os.path.isdir(boot.folder):
                with session.case(f"{boot.label}: who waits for whom is drawn"):
                    draws_locks(program, boot, folder)
        for boot in boots(("boot1",)):
            path = os.path.join(folder, "image")
            image = Image(boot.dump, path)
            with session.case(f"{boot.label}: HTML of the dump stays text"):
                nothing_gets_out(program, boot, image, folder)
            with session.case(f"{boot.label}: markdown for a ticket"):
                is_a_ticket(program, boot, image)
            with session.case(f"{boot.label}: files"):
                files_are_guarded(program, boot, image, folder)
            image.bytes.close()
            os.unlink(path)
