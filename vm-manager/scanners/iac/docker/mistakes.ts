// Rules about Dockerfiles that do not do what they say.
import { rowOf, type Checked } from '../rule.js';
import {
  of,
  at,
  commandsOf,
  runs,
  base,
  verbOf,
  beyondLast,
  cleaned,
  updateAlone,
  isArchive,
  type Stages,
} from './commands.js';

export const mistakeRules: readonly Checked<Stages>[] = [
  rowOf({
    id: 'docker-add',
    title: 'ADD where COPY is enough',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0005'],
    why: 'ADD unpacks archives and follows addresses: more may come into the image than the line says.',
    fix: 'Use COPY for files that are not to be unpacked.',
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
    fix: 'Name the stage before.',
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
    fix: 'Keep one.',
    check: (stages) => beyondLast(stages, 'ENTRYPOINT'),
  }),
  rowOf({
    id: 'docker-port-range',
    title: 'EXPOSE of a port that there is not',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0008'],
    why: 'Ports end at 65535.',
    fix: 'Name the port that the process listens on.',
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
    fix: 'Write the whole path.',
    check: (stages) => at(of(stages, 'WORKDIR').filter(({ words }) => !/^(?:\/|[A-Za-z]:|\$|%)/.test(words[0] ?? '/'))),
  }),
  rowOf({
    id: 'docker-copy-several',
    title: 'COPY of several files to what is no directory',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0011'],
    why: 'The build fails, or one file replaces the other.',
    fix: 'End the target with a slash.',
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
    fix: 'Give each its own name.',
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
    fix: 'Use WORKDIR.',
    check: (stages) =>
      at(
        of(stages, 'RUN').filter((run) => {
          const commands = commandsOf(run);
          return commands.length === 1 && commands[0]?.[0] === 'cd' && (commands[0][1] ?? '').startsWith('/');
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
    fix: 'Use one of them.',
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
    fix: 'Keep one.',
    check: (stages) => beyondLast(stages, 'CMD'),
  }),
  rowOf({
    id: 'docker-several-healthchecks',
    title: 'Several HEALTHCHECK in one stage',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0023'],
    why: 'Only the last one counts.',
    fix: 'Keep one.',
    check: (stages) => beyondLast(stages, 'HEALTHCHECK'),
  }),
  rowOf({
    id: 'docker-update-alone',
    title: 'The list of packages is refreshed by itself',
    severity: 'low',
    cwes: [1104],
    knownAs: ['DS-0017'],
    why: 'The layer is kept: later builds install from an old list, without its patches.',
    fix: 'Refresh and install in one RUN.',
    check: updateAlone,
  }),
  rowOf({
    id: 'docker-apt-without-yes',
    title: 'apt-get install asks a question',
    severity: 'low',
    cwes: [710],
    knownAs: ['DS-0021'],
    why: 'The question stays unanswered: the build ends.',
    fix: 'Add -y to the install command.',
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
    fix: 'Use LABEL org.opencontainers.image.authors.',
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
      fix: `End the same RUN with \`${name} clean${name === 'zypper' ? '' : ' all'}\`.`,
      check: cleaned(install, clean),
    }),
  ),
];
