// child_process: what a shell is given to read, and which program is started.
import childProcess from 'node:child_process';
import { basename } from 'node:path';
import { breaksShell } from '../lexers/shell.js';
import { SeenTexts } from '../report/known.js';
import { report } from '../report/report.js';
import type { Visit } from '../requests/visit.js';
import { watchMember } from './wrap.js';

const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'ash', 'ksh', 'busybox']);
const lineMax = 100_000;
const seen = new SeenTexts();

function lookAtLine(visit: Visit, sink: string, line: string): void {
  if (line.length > lineMax || seen.hasSeen(line)) return;
  for (const value of visit.values()) {
    if (!line.includes(value.text)) continue;
    const at = breaksShell(line, value.text);
    if (at === null) continue;
    const effect = 'is read by the shell as more than one argument';
    report(visit, { attack: 'command_injection', sink, value, text: line, at, effect });
    return;
  }
}

function lookAtProgram(visit: Visit, sink: string, file: string): void {
  // one that is chosen by its name of a list is named in the program's files
  const value = visit.values().find(({ text }) => text === file || (text.includes('/') && file.endsWith(`/${text}`)));
  if (value === undefined) return;
  report(visit, {
    attack: 'command_injection',
    sink,
    value,
    text: file,
    at: 0,
    effect: 'names the program that is started',
  });
}

/** `file` and its arguments, of which the first is the program's own name where `skips` says so. */
function look(visit: Visit, sink: string, file: unknown, args: unknown, shell: unknown): void {
  if (typeof file !== 'string') return;
  const list = Array.isArray(args) ? args.filter((one): one is string => typeof one === 'string') : [];
  if (shell !== undefined && shell !== false && shell !== '') {
    lookAtLine(visit, sink, [file, ...list].join(' '));
    return;
  }
  if (shells.has(basename(file))) {
    const flag = list.findIndex((one) => /^-[a-z]*c$/i.test(one));
    const line = flag < 0 ? undefined : list[flag + 1];
    if (line !== undefined) lookAtLine(visit, sink, line);
    return;
  }
  lookAtProgram(visit, sink, file);
}

interface Options {
  readonly file?: unknown;
  readonly args?: unknown;
  readonly shell?: unknown;
}

export function watchCommands(): void {
  // exec, execFile, spawn and fork all come here; a shell stands among the arguments by then
  watchMember(childProcess.ChildProcess.prototype, 'spawn', (visit, [first]) => {
    const { file, args } = (first ?? {}) as Options;
    const list: unknown = Array.isArray(args) ? args.slice(1) : [];
    look(visit, 'child_process.spawn', file, list, false);
  });
  watchMember(childProcess, 'execSync', (visit, [line]) => {
    if (typeof line === 'string') lookAtLine(visit, 'child_process.execSync', line);
  });
  for (const name of ['spawnSync', 'execFileSync'])
    watchMember(childProcess, name, (visit, [file, args, options]) => {
      const own = (Array.isArray(args) ? options : args) as Options | null | undefined;
      look(visit, `child_process.${name}`, file, args, own?.shell);
    });
}
