// Rules about the configuration of an image, and about what all its layers together have.
import { envOf } from '../iac/docker/stages.js';
import { rowOf, type Checked, type Place } from '../iac/rule.js';
import { listOf, objectOf, textOf } from '../sca/listing.js';
import { masked } from '../secrets/values.js';
import type { Summary } from './image-source.js';
import { endedOn, type Release } from './packages/release.js';

export interface Subject extends Pick<Summary, 'setuid'> {
  readonly config: unknown;
  readonly release: Release | null;
  /** `2026-03-01` */
  readonly today: string;
}

const own = (subject: Subject) => objectOf(objectOf(subject.config)['config']);
const atConfig = (message: string, address: string): Place => ({ line: 1, message, address });

/** Names of what nobody but its owner is to know. */
const secretName =
  /(?:^|_)(?:PASSWORD|PASSWD|PASS|SECRET|TOKEN|API_?KEY|PRIVATE_?KEY|CREDENTIALS?)(?:$|_(?!FILE|PATH|URL|NAME|ID))/i;
const isPlain = (value: string): boolean =>
  value.length >= 4 && !/^(?:true|false|none|null|changeme|\d+)$/i.test(value) && !/^[$/{<]|\$\{/.test(value);

const environment = (subject: Subject): readonly (readonly [name: string, value: string])[] =>
  listOf(own(subject)['Env']).map((one) => {
    const text = textOf(one);
    const at = text.indexOf('=');
    return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
  });

const steps = (subject: Subject): string[] =>
  listOf(objectOf(subject.config)['history']).map((step) => textOf(objectOf(step)['created_by']));

/** `|2 TOKEN=abc USER=x /bin/sh -c …` of a build with arguments, and `ARG TOKEN=abc`. */
function argumentsOf(step: string): readonly (readonly [name: string, value: string])[] {
  const given = /^(?:RUN )?\|(\d+) (.*)$/s.exec(step.replace(/^\/bin\/sh -c #\(nop\)\s+/, ''));
  if (given !== null) return envOf((given[2] ?? '').split(/ \/bin\/\w+ /)[0] ?? '');
  const declared = /^(?:\/bin\/sh -c #\(nop\)\s+)?ARG (\w+=.*?)(?:\s*# buildkit)?$/s.exec(step);
  return declared === null ? [] : envOf(declared[1] ?? '');
}

/** Those that distributions ship and administrators know. */
const usualSetuid: ReadonlySet<string> = new Set(
  (
    'su sudo mount umount passwd chsh chfn chage gpasswd newgrp expiry unix_chkpwd pam_extrausers_chkpwd wall write ' +
    'ssh-agent ssh-keysign dbus-daemon-launch-helper fusermount fusermount3 pkexec polkit-agent-helper-1 crontab at ' +
    'bsd-write dotlockfile ping ping6 bbsuid pam_timestamp_check usernetctl userhelper staprun newuidmap newgidmap ' +
    'utempter lockdev'
  ).split(' '),
);

export const imageRules: readonly Checked<Subject>[] = [
  rowOf({
    id: 'image-runs-as-root',
    knownAs: ['runs-as-root'],
    title: 'The image runs as root',
    severity: 'medium',
    cwes: [250],
    why: 'Without a user of its own the program in the container is root; whoever takes it over is root there, too.',
    fix: 'Make a user in the Dockerfile and name it with USER in the last stage, by its number.',
    check: (subject) => {
      const user = textOf(own(subject)['User']);
      if (!/^(?:|root|0)(?::.*)?$/.test(user)) return [];
      return [atConfig(user === '' ? 'no USER is set' : `USER is ${user}`, 'User')];
    },
  }),
  rowOf({
    id: 'image-secret-in-environment',
    knownAs: ['secret-in-env'],
    title: 'A secret in the environment of the image',
    severity: 'high',
    cwes: [798, 526],
    why: 'Everybody who has the image reads its environment; so does each program in the container.',
    fix: 'Change the secret, leave it out of the image, and hand it over when the container starts.',
    check: (subject) =>
      environment(subject)
        .filter(([name, value]) => secretName.test(name) && isPlain(value))
        .map(([name, value]) => atConfig(`${name} is ${masked(value)}`, `Env ${name}`)),
  }),
  rowOf({
    id: 'image-secret-in-history',
    title: 'A secret in the history of the image',
    severity: 'high',
    cwes: [538, 798],
    why: 'Arguments of a build stand in the history, which goes with the image.',
    fix: 'Change the secret, and give it to the build as a secret mount (RUN --mount=type=secret).',
    check: (subject) => {
      const found = new Map(
        steps(subject)
          .flatMap(argumentsOf)
          .filter(([name, value]) => secretName.test(name) && isPlain(value)),
      );
      return [...found].map(([name, value]) => atConfig(`the argument ${name} is ${masked(value)}`, `history ${name}`));
    },
  }),
  rowOf({
    id: 'image-exposes-ssh',
    knownAs: ['exposes-ssh'],
    title: 'The image offers SSH',
    severity: 'medium',
    cwes: [284],
    why: 'A container is entered by its runtime; a server for SSH in it has keys and passwords of its own.',
    fix: 'Leave the server and EXPOSE 22 out.',
    check: (subject) =>
      Object.keys(objectOf(own(subject)['ExposedPorts'])).some((port) => /^22(?:\/tcp)?$/.test(port))
        ? [atConfig('port 22 is exposed', 'ExposedPorts 22')]
        : [],
  }),
  rowOf({
    id: 'image-setuid-program',
    knownAs: ['setuid-binary'],
    title: 'A program that runs with the rights of its owner',
    severity: 'low',
    cwes: [250],
    why: 'Whoever calls it has the rights of another user while it runs; it is none of those that distributions ship.',
    fix: 'Take the bit away (chmod u-s,g-s), or run the container with no_new_privileges where the program is needed.',
    check: (subject) =>
      subject.setuid
        .filter((path) => !usualSetuid.has(path.slice(path.lastIndexOf('/') + 1)))
        .slice(0, 100)
        .map((path) => ({ line: 1, path, address: path, message: `/${path} has the bit set` })),
  }),
  rowOf({
    id: 'image-release-ended',
    title: 'The distribution of the image gets no updates any more',
    severity: 'high',
    cwes: [1104],
    why: 'New weaknesses in its packages are not closed, and advisories for it are not complete.',
    fix: 'Build on a release that is supported.',
    check: ({ release, today }) => {
      const day = release === null ? null : endedOn(release, today);
      return release === null || day === null ? [] : [atConfig(`${release.name}: its support ended ${day}`, 'release')];
    },
  }),
  rowOf({
    id: 'image-without-healthcheck',
    title: 'The image says not how its health is checked',
    severity: 'info',
    cwes: [],
    why: 'A container that hangs goes on unnoticed, where nothing else checks it.',
    fix: 'Add HEALTHCHECK, or let the orchestrator probe it.',
    check: (subject) => (own(subject)['Healthcheck'] === undefined ? [atConfig('no HEALTHCHECK', 'Healthcheck')] : []),
  }),
];
