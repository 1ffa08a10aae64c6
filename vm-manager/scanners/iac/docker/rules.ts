// Rules about Dockerfiles. Their subject is the whole file, as its stages.
import { rowOf, type Checked, type Place } from '../rule.js';
import { isPlaceholder, isReference, isTemplate } from '../../secrets/values.js';
import { envOf, type Instruction, type Stage } from './stages.js';

type Stages = readonly Stage[];

const of = (stages: Stages, keyword: string): Instruction[] =>
  stages.flatMap(({ instructions }) => instructions.filter((one) => one.keyword === keyword));
const at = (all: readonly Instruction[]): Place[] => all.map(({ line, endLine }) => ({ line, endLine }));

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

const runs = (stages: Stages, holds: (command: readonly string[], run: Instruction) => boolean): Place[] =>
  at(of(stages, 'RUN').filter((run) => commandsOf(run).some((command) => holds(command, run))));

const base = (word: string | undefined): string => (word ?? '').replace(/^.*\//, '');
/** The first word of `command` that is no option: what it is asked to do. */
const verbOf = (command: readonly string[], ...names: readonly string[]): string | null =>
  names.includes(base(command[0])) ? (command.slice(1).find((word) => !word.startsWith('-')) ?? '') : null;

const secretName =
  /(?:^|_)(?:PASSWORD|PASSWD|PASS|PWD|SECRET|SECRET_KEY|TOKEN|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?)$/i;
const isSecretValue = (value: string): boolean =>
  value.length >= 4 && !isTemplate(value) && !value.includes('$') && !isReference(value) && !isPlaceholder(value);

/** Those of a stage of the same keyword beyond the last: only that one counts. */
const beyondLast = (stages: Stages, keyword: string): Place[] =>
  stages.flatMap(({ instructions }) => at(instructions.filter((one) => one.keyword === keyword).slice(0, -1)));

const cleaned =
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

function lastUser(stage: Stage): Instruction | null {
  for (let one: Stage | null = stage; one !== null; one = one.parent) {
    const found = one.instructions.findLast(({ keyword }) => keyword === 'USER');
    if (found !== undefined) return found;
  }
  return null;
}

function rootOf(stages: Stages): Place[] {
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

function untagged(stages: Stages): Place[] {
  return stages.flatMap(({ image, parent, isUnknown, from }) => {
    const name = image.replace(/^.*\//, '');
    if (parent !== null || isUnknown || image === 'scratch' || image.includes('@sha256:')) return [];
    if (name.includes(':') && !/:latest$/.test(name)) return [];
    return [{ line: from.line, message: `${image} has no fixed tag: the next build may be of another image` }];
  });
}

function updateAlone(stages: Stages): Place[] {
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

const isArchive = (path: string): boolean => /\.(?:tar|tgz|tar\.\w+|t[bx]z2?|gz|bz2|xz|zst)$/i.test(path);

const harm: readonly Checked<Stages>[] = [
  rowOf({
    id: 'docker-root-user',
    title: 'The image runs as root',
    severity: 'high',
    cwes: [250],
    knownAs: ['DS-0002', 'runs-as-root'],
    why: 'Whoever breaks into the process is root in the container, one mistake of the kernel or of a mount away from the host.',
    mend: 'Make a user in the image and end the last stage with USER and its number.',
    check: rootOf,
  }),
  rowOf({
    id: 'docker-secret-in-env',
    title: 'Secret in ENV or ARG',
    severity: 'high',
    cwes: [798, 522],
    knownAs: ['DS-0031', 'secret-in-env'],
    why: 'Values of ENV and ARG stand in the configuration and the history of the image: whoever can pull it reads them.',
    mend: 'Give secrets to a build by RUN --mount=type=secret, and to a container when it starts.',
    check: (stages) =>
      ['ENV', 'ARG'].flatMap((keyword) =>
        of(stages, keyword).flatMap(({ text, line }) =>
          envOf(text)
            .filter(([name, value]) => secretName.test(name) && isSecretValue(value))
            .map(([name]) => ({ line, message: `${name} has a value in the image` })),
        ),
      ),
  }),
  rowOf({
    id: 'docker-expose-ssh',
    title: 'The image exposes SSH',
    severity: 'medium',
    cwes: [1327],
    knownAs: ['DS-0004', 'exposes-ssh'],
    why: 'A login into a container bypasses the deployment, and is one more door to keep.',
    mend: 'Take the port 22 out, and use the exec of the orchestrator.',
    check: (stages) =>
      at(of(stages, 'EXPOSE').filter(({ words }) => words.some((word) => /^22(?:\/tcp)?$/.test(word)))),
  }),
  rowOf({
    id: 'docker-pipe-to-shell',
    title: 'A download is run without being checked',
    severity: 'medium',
    cwes: [494, 829],
    why: 'Whoever changes the file on the way or on its server runs code in the build.',
    mend: 'Download, compare with a digest that stands in the repository, then run.',
    check: (stages) =>
      at(
        of(stages, 'RUN').filter(({ text }) =>
          /\b(?:curl|wget)\b[^|;&\n]{0,300}https?:[^|;&\n]{0,300}\|\s*(?:sudo\s+)?(?:ba|da|z|k)?sh\b/.test(text),
        ),
      ),
  }),
  rowOf({
    id: 'docker-add-url',
    title: 'ADD of an address without a checksum',
    severity: 'medium',
    cwes: [494],
    why: 'What the address gives at the time of the build goes into the image, whatever it is.',
    mend: 'Write ADD --checksum=sha256:…, or download and compare in a RUN.',
    check: (stages) =>
      at(
        of(stages, 'ADD').filter(
          ({ words, flags }) => !flags.has('checksum') && words.slice(0, -1).some((word) => /^https?:\/\//.test(word)),
        ),
      ),
  }),
  rowOf({
    id: 'docker-world-writable',
    title: 'Files that everybody may change',
    severity: 'medium',
    cwes: [732],
    why: 'Every process of the container may put its own code in their place.',
    mend: 'Give the files to the user that needs them, with 755 or 750.',
    check: (stages) =>
      runs(
        stages,
        (command) =>
          base(command[0]) === 'chmod' &&
          command.some((word) => /^[0-7]?777$|^(?:a|ugo|o)?\+w?rwx$|^(?:a|o)=rwx$/.test(word)),
      ),
  }),
  rowOf({
    id: 'docker-insecure-run',
    title: 'RUN without the bounds of the build',
    severity: 'high',
    cwes: [250],
    why: '--security=insecure gives the command the rights of a privileged container on the machine that builds.',
    mend: 'Leave the flag out.',
    check: (stages) => at(of(stages, 'RUN').filter(({ flags }) => flags.get('security') === 'insecure')),
  }),
  rowOf({
    id: 'docker-sudo',
    title: 'sudo in a RUN',
    severity: 'low',
    cwes: [250],
    knownAs: ['DS-0010'],
    why: 'A build runs as the user that USER names; sudo in the image helps whoever breaks in later.',
    mend: 'Put the command before USER, and do not install sudo.',
    check: (stages) => runs(stages, ([first]) => first === 'sudo'),
  }),
  rowOf({
    id: 'docker-untagged',
    title: 'Base image without a fixed tag',
    severity: 'low',
    cwes: [829, 1357],
    knownAs: ['DS-0001'],
    why: 'latest, or no tag, is another image tomorrow: nobody can say what was built.',
    mend: 'Name a version, or better a digest.',
    check: untagged,
  }),
];

const mistakes: readonly Checked<Stages>[] = [
  rowOf({
    id: 'docker-add',
    title: 'ADD where COPY is enough',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0005'],
    why: 'ADD unpacks archives and follows addresses: more may come into the image than the line says.',
    mend: 'Use COPY for files that are not to be unpacked.',
    check: (stages) =>
      at(
        of(stages, 'ADD').filter(
          ({ words, text }) =>
            !text.startsWith('<<') &&
            words.length > 1 &&
            !words.slice(0, -1).some((word) => isArchive(word) || /^(?:https?|git|ssh):|^git@|\$/.test(word)),
        ),
      ),
  }),
  rowOf({
    id: 'docker-copy-from-itself',
    title: 'COPY from its own stage',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0006'],
    why: 'A stage cannot copy from itself: the build fails.',
    mend: 'Name the stage before.',
    check: (stages) =>
      stages.flatMap(({ name, instructions }) =>
        at(
          instructions.filter(
            ({ keyword, flags }) => keyword === 'COPY' && name !== null && flags.get('from')?.toLowerCase() === name,
          ),
        ),
      ),
  }),
  rowOf({
    id: 'docker-several-entrypoints',
    title: 'Several ENTRYPOINT in one stage',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0007'],
    why: 'Only the last one counts: what stands before it is not what runs.',
    mend: 'Keep one.',
    check: (stages) => beyondLast(stages, 'ENTRYPOINT'),
  }),
  rowOf({
    id: 'docker-port-range',
    title: 'EXPOSE of a port that there is not',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0008'],
    why: 'Ports end at 65535.',
    mend: 'Name the port that the process listens on.',
    check: (stages) =>
      at(
        of(stages, 'EXPOSE').filter(({ words }) =>
          words.some((word) => /^\d+/.test(word) && Number.parseInt(word, 10) > 65_535),
        ),
      ),
  }),
  rowOf({
    id: 'docker-relative-workdir',
    title: 'WORKDIR is relative',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0009'],
    why: 'It depends on what the base image or an earlier line has set.',
    mend: 'Write the whole path.',
    check: (stages) => at(of(stages, 'WORKDIR').filter(({ words }) => !/^(?:\/|[A-Za-z]:|\$|%)/.test(words[0] ?? '/'))),
  }),
  rowOf({
    id: 'docker-copy-several',
    title: 'COPY of several files to what is no directory',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0011'],
    why: 'The build fails, or one file replaces the other.',
    mend: 'End the target with a slash.',
    check: (stages) =>
      at(
        of(stages, 'COPY').filter(
          ({ words, text }) =>
            !text.includes('<<') && words.length > 2 && !/(?:\/|^\.{1,2}|\$\w+\}?)$/.test(words.at(-1) ?? ''),
        ),
      ),
  }),
  rowOf({
    id: 'docker-same-stage-name',
    title: 'Two stages of one name',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0012'],
    why: 'Which one is meant depends on where it is named.',
    mend: 'Give each its own name.',
    check: (stages) =>
      stages
        .filter((stage, index) => stage.name !== null && stages.findIndex(({ name }) => name === stage.name) < index)
        .map(({ from }) => ({ line: from.line })),
  }),
  rowOf({
    id: 'docker-run-cd',
    title: 'RUN cd changes no directory',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0013'],
    why: 'The next RUN begins where the one before began.',
    mend: 'Use WORKDIR.',
    check: (stages) =>
      at(
        of(stages, 'RUN').filter((run) => {
          const commands = commandsOf(run);
          return commands.length === 1 && commands[0]?.[0] === 'cd' && /^\//.test(commands[0][1] ?? '');
        }),
      ),
  }),
  rowOf({
    id: 'docker-curl-and-wget',
    title: 'Both curl and wget',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0014'],
    why: 'Two programs for one task are twice the holes to keep closed.',
    mend: 'Use one of them.',
    check: (stages) =>
      stages.flatMap((stage) => {
        const using = (name: string) => runs([stage], (command) => base(command[0]) === name);
        return using('curl').length > 0 ? using('wget') : [];
      }),
  }),
  rowOf({
    id: 'docker-several-cmds',
    title: 'Several CMD in one stage',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0016'],
    why: 'Only the last one counts.',
    mend: 'Keep one.',
    check: (stages) => beyondLast(stages, 'CMD'),
  }),
  rowOf({
    id: 'docker-several-healthchecks',
    title: 'Several HEALTHCHECK in one stage',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0023'],
    why: 'Only the last one counts.',
    mend: 'Keep one.',
    check: (stages) => beyondLast(stages, 'HEALTHCHECK'),
  }),
  rowOf({
    id: 'docker-update-alone',
    title: 'The list of packages is refreshed by itself',
    severity: 'low',
    cwes: [1104],
    knownAs: ['DS-0017'],
    why: 'The layer is kept: later builds install from an old list, without its patches.',
    mend: 'Refresh and install in one RUN.',
    check: updateAlone,
  }),
  rowOf({
    id: 'docker-apt-without-yes',
    title: 'apt-get install asks a question',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0021'],
    why: 'Nobody answers it: the build ends.',
    mend: 'Add -y to the install command.',
    check: (stages) =>
      runs(
        stages,
        (command) =>
          verbOf(command, 'apt-get') === 'install' &&
          !command.some((word) => /^-[a-zA-Z]*(?:y|qq)|^--(?:yes|assume-yes)$|^-q=2$/.test(word)),
      ),
  }),
  rowOf({
    id: 'docker-maintainer',
    title: 'MAINTAINER is out of use',
    severity: 'info',
    cwes: [477],
    knownAs: ['DS-0022'],
    why: 'Tools no longer read it.',
    mend: 'Use LABEL org.opencontainers.image.authors.',
    check: (stages) => at(of(stages, 'MAINTAINER')),
  }),
  ...(
    [
      [
        'yum',
        'DS-0015',
        /\byum\s+(?:-\S+\s+)*(?:install|localinstall|groupinstall|update)\b/,
        /\byum\s+(?:-\S+\s+)*clean\b|\/var\/cache\/yum/,
      ],
      [
        'dnf',
        'DS-0019',
        /\bdnf\s+(?:-\S+\s+)*(?:install|update|upgrade)\b/,
        /\bdnf\s+(?:-\S+\s+)*clean\b|\/var\/cache\/(?:dnf|yum)/,
      ],
      [
        'zypper',
        'DS-0020',
        /\bzypper\s+(?:-\S+\s+)*(?:in|install|update|up)\b/,
        /\bzypper\s+(?:-\S+\s+)*(?:clean|cc)\b|\/var\/cache\/zypp/,
      ],
    ] as const
  ).map(([name, known, install, clean]) =>
    rowOf<Stages>({
      id: `docker-${name}-clean`,
      title: `${name} leaves its cache in the image`,
      severity: 'info',
      cwes: [1104],
      knownAs: [known],
      why: 'The image is larger than it needs to be, and has old lists of packages in it.',
      mend: `End the same RUN with \`${name} clean${name === 'zypper' ? '' : ' all'}\`.`,
      check: cleaned(install, clean),
    }),
  ),
];

export const dockerRules: readonly Checked<Stages>[] = [...harm, ...mistakes];
