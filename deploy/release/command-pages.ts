// What a shell and a reader of manuals are told about `gatehouse`, made of what `gatehouse help` prints and of the
// table of environment variables, so that neither can say something else.
import { usage } from '#cli/usage';
import { variables } from '#settings/environment';

/** A command with the flags and words that its lines of the help name. */
export interface Command {
  readonly name: string;
  readonly flags: readonly string[];
  readonly words: readonly string[];
  /** Its paragraph of the help, one string a line. */
  readonly lines: readonly string[];
}

/** Every command of the help, in its order. */
export function commandsOf(text: string = usage): Command[] {
  const commands: { name: string; lines: string[] }[] = [];
  for (const line of text.split('\n')) {
    const name = /^ {2}gatehouse ([a-z-]+)/.exec(line)?.[1];
    if (name !== undefined) commands.push({ name, lines: [line.trim()] });
    else if (/^ {4}/.test(line)) commands.at(-1)?.lines.push(line.trim());
  }
  return commands.map(({ name, lines }) => {
    const all = lines.join(' ');
    // the form of the call: up to the description, which begins after two spaces
    const call = lines.map((line) => line.split(/ {2,}/)[0] ?? '').join(' ');
    const flags = [...new Set([...all.matchAll(/(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9]/g)].map(([flag]) => flag))];
    const called = [
      ...call.replace(/\(.*?\)/g, '').matchAll(/(?:^gatehouse [a-z-]+ \[?|\| )([a-z][a-z-]+)(?=[ \]]|$)/g),
    ];
    const words = [...new Set(called.map(([, word = '']) => word))];
    return { name, flags, words, lines };
  });
}

/** Commands that take every variable of the environment as a flag. */
const takeVariables: ReadonlySet<string> = new Set(['up', 'data-plane', 'control-plane', 'console', 'demo']);
const variableFlags = (): string[] => variables.map(({ name }) => `--${name.toLowerCase().replaceAll('_', '-')}`);

/** Completion for bash: commands, their flags, their words, and files for anything else. */
export function bashCompletion(): string {
  const commands = commandsOf();
  const cases = commands.map(({ name, flags, words }) => {
    const known = takeVariables.has(name) ? variableFlags() : [];
    const own = flags.filter((flag) => !known.includes(flag));
    const all = [...own, ...words, ...(known.length > 0 ? ['$variables'] : [])];
    return `    ${name}) words="${all.join(' ')}" ;;`;
  });
  return [
    '# bash completion for gatehouse(8); generated from `gatehouse help`',
    '_gatehouse() {',
    '  local current="${COMP_WORDS[COMP_CWORD]}" words="" variables',
    `  variables="${variableFlags().join(' ')}"`,
    '  if [ "$COMP_CWORD" -eq 1 ]; then',
    `    words="${commands.map(({ name }) => name).join(' ')}"`,
    '  else',
    '    case "${COMP_WORDS[1]}" in',
    ...cases.map((line) => `  ${line}`),
    '    esac',
    '  fi',
    '  # shellcheck disable=SC2207 # no word of the table has white space',
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '  [ "${#COMPREPLY[@]}" -gt 0 ] || [ "$COMP_CWORD" -eq 1 ] || COMPREPLY=($(compgen -f -- "$current"))',
    '}',
    'complete -F _gatehouse gatehouse',
    '',
  ].join('\n');
}

const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\x20-\x7e\n]/g, (sign) =>
      sign === '…' ? '...' : `\\[u${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}]`,
    )
    .replace(/^([.'])/gm, '\\&$1');

/** The manual page gatehouse(8). `date` is YYYY-MM-DD. */
export function manualPage(version: string, date: string): string {
  const commands = commandsOf().flatMap(({ lines: [call = '', ...rest] }) => {
    const [form = '', ...description] = call.split(/ {2,}| (?=[a-z]+ [a-z]+ .*,)/);
    const told = [...description, ...rest].join(' ').trim();
    return ['.TP', `.B ${roff(told === '' ? call : form)}`, roff(told === '' ? 'See the documentation.' : told)];
  });
  const rows = variables.flatMap(({ name, purpose, default: fallback }) => [
    '.TP',
    `.B ${name}`,
    roff(`${purpose}${fallback === '' ? '' : ` (default ${fallback})`}.`),
  ]);
  return [
    `.TH GATEHOUSE 8 "${date}" "gatehouse ${version}" "System administration"`,
    '.SH NAME',
    'gatehouse \\- web application firewall and vulnerability manager',
    '.SH SYNOPSIS',
    '.B gatehouse',
    '.I command',
    '.RI [ options ]',
    '.SH DESCRIPTION',
    'Gatehouse inspects HTTP requests with the OWASP Core Rule Set before they reach an application.',
    'It runs as three services: gatehouse\\-data\\-plane, gatehouse\\-control\\-plane and gatehouse\\-console.',
    '.SH COMMANDS',
    ...commands,
    '.SH ENVIRONMENT',
    'Read from the environment, then from /etc/gatehouse/.env.',
    ...rows,
    '.SH FILES',
    '.TP',
    '.I /etc/gatehouse/.env',
    'settings and secrets of this deployment, mode 0600',
    '.TP',
    '.I /var/lib/gatehouse',
    'database, rule sets, artifacts, certificates',
    '.SH EXIT STATUS',
    '0 done, 1 refused or failed, 2 wrong usage.',
    '',
  ].join('\n');
}
