// What rules about Dockerfiles ask of stages.
import { type Place } from '../rule.js';
import { isPlaceholder, isReference, isTemplate } from '../../secrets/values.js';
import { type Instruction, type Stage } from './stages.js';

export type Stages = readonly Stage[];

export const of = (stages: Stages, keyword: string): Instruction[] =>
  stages.flatMap(({ instructions }) => instructions.filter((one) => one.keyword === keyword));
export const at = (all: readonly Instruction[]): Place[] => all.map(({ line, endLine }) => ({ line, endLine }));

/** Commands of a RUN, each as words; `&&`, `;`, `|` and lines end one. */
export function commandsOf({ text, words }: Instruction): readonly (readonly string[])[] {
  if (text.trimStart().startsWith('[')) return [words];
  return text.split(/&&|\|\||[;|\n]/).map((command) =>
    command
      .trim()
      .split(/\s+/)
      .filter((word) => word !== '' && !/^(?:\w+=\S*|if|then|else|do|!|\()$/.test(word)),
  );
}

export const runs = (stages: Stages, holds: (command: readonly string[], run: Instruction) => boolean): Place[] =>
  at(of(stages, 'RUN').filter((run) => commandsOf(run).some((command) => holds(command, run))));

export const base = (word: string | undefined): string => (word ?? '').replace(/^.*\//, '');
/** The first word of `command` that is no option: what it is asked to do. */
export const verbOf = (command: readonly string[], ...names: readonly string[]): string | null =>
  names.includes(base(command[0])) ? (command.slice(1).find((word) => !word.startsWith('-')) ?? '') : null;

export const secretName =
  /(?:^|_)(?:PASSWORD|PASSWD|PASS|PWD|SECRET|SECRET_KEY|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?)$/i;
export const isSecretValue = (value: string): boolean =>
  value.length >= 4 && !isTemplate(value) && !value.includes('$') && !isReference(value) && !isPlaceholder(value);

/** Those of a stage of the same keyword beyond the last: only that one counts. */
export const beyondLast = (stages: Stages, keyword: string): Place[] =>
  stages.flatMap(({ instructions }) => at(instructions.filter((one) => one.keyword === keyword).slice(0, -1)));

export const cleaned =
  (manager: RegExp, cleaning: RegExp) =>
  (stages: Stages): Place[] =>
    at(
      of(stages, 'RUN').filter((run) => {
        const install = manager.exec(run.text);
        return (
          install !== null &&
          !cleaning.test(run.text.slice(install.index)) &&
          !/--mount=type=cache/.test(String([...run.flags]))
        );
      }),
    );

export function lastUser(stage: Stage): Instruction | null {
  for (let one: Stage | null = stage; one !== null; one = one.parent) {
    const found = one.instructions.findLast(({ keyword }) => keyword === 'USER');
    if (found !== undefined) return found;
  }
  return null;
}

export function rootOf(stages: Stages): Place[] {
  const last = stages.at(-1);
  if (last === undefined) return [];
  const user = lastUser(last);
  let origin = last;
  while (origin.parent !== null) origin = origin.parent;
  if (user === null) {
    // images whose own user is not root
    if (
      /(?:^|[:/-])(?:nonroot|rootless|unprivileged)/.test(origin.image) ||
      (origin.image === 'scratch' && last.instructions.length === 0)
    )
      return [];
    return [{ line: last.from.line, message: 'No USER: the process runs as root' }];
  }
  const name = user.text
    .trim()
    .replace(/:.*$/, '')
    .replace(/^(["'])(.*)\1$/, '$2');
  return name === 'root' || name === '0'
    ? [{ line: user.line, message: `USER ${name}: the process runs as root` }]
    : [];
}

export function untagged(stages: Stages): Place[] {
  return stages.flatMap(({ image, parent, isUnknown, from }) => {
    const name = image.replace(/^.*\//, '');
    if (parent !== null || isUnknown || image === 'scratch' || image.includes('@sha256:')) return [];
    if (name.includes(':') && !name.endsWith(':latest')) return [];
    return [{ line: from.line, message: `${image} has no fixed tag: the next build may be of another image` }];
  });
}

export function updateAlone(stages: Stages): Place[] {
  const isUpdate = (command: readonly string[]): boolean =>
    verbOf(command, 'apt-get', 'apt', 'apk', 'yum', 'dnf', 'zypper') === 'update' ||
    verbOf(command, 'zypper') === 'refresh';
  const isInstall = (command: readonly string[]): boolean =>
    /^(?:install|add|upgrade|dist-upgrade|full-upgrade|groupinstall|localinstall|reinstall|build-dep|in)$/.test(
      verbOf(command, 'apt-get', 'apt', 'apk', 'yum', 'dnf', 'zypper', 'aptitude') ?? '',
    );
  return at(
    of(stages, 'RUN').filter((run) => {
      const commands = commandsOf(run);
      // `yum update` upgrades by itself
      return commands.some(isUpdate) && !commands.some(isInstall) && !/\b(?:yum|dnf)\b/.test(run.text);
    }),
  );
}

export const isArchive = (path: string): boolean => /\.(?:tar|tgz|tar\.\w+|t[bx]z2?|gz|bz2|xz|zst)$/i.test(path);
