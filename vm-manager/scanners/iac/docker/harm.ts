// Rules about Dockerfiles whose breach does harm.
import { rowOf, type Checked } from '../rule.js';
import { envOf } from './stages.js';
import { of, at, runs, base, secretName, isSecretValue, rootOf, untagged, type Stages } from './commands.js';

export const harmRules: readonly Checked<Stages>[] = [
  rowOf({
    id: 'docker-root-user',
    title: 'The image runs as root',
    severity: 'high',
    cwes: [250],
    knownAs: ['DS-0002', 'runs-as-root'],
    why:
      'An attacker in the process is root in the container, one mistake of the kernel or of a ' +
      'mount away from the host.',
    fix: 'Make a user in the image and end the last stage with USER and its number.',
    check: rootOf,
  }),
  rowOf({
    id: 'docker-secret-in-env',
    title: 'Secret in ENV or ARG',
    severity: 'high',
    cwes: [798, 522],
    knownAs: ['DS-0031', 'secret-in-env'],
    why:
      'Values of ENV and ARG stand in the configuration and the history of the image: everyone who can ' +
      'pull it reads them.',
    fix: 'Give secrets to a build by RUN --mount=type=secret, and to a container when it starts.',
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
    fix: 'Take the port 22 out, and use the exec of the orchestrator.',
    check: (stages) =>
      at(of(stages, 'EXPOSE').filter(({ words }) => words.some((word) => /^22(?:\/tcp)?$/.test(word)))),
  }),
  rowOf({
    id: 'docker-pipe-to-shell',
    title: 'A download is run without being checked',
    severity: 'medium',
    cwes: [494, 829],
    why: 'An attacker who changes the file on the way or on its server runs code in the build.',
    fix: 'Download, compare with a digest that stands in the repository, then run.',
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
    fix: 'Write ADD --checksum=sha256:…, or download and compare in a RUN.',
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
    fix: 'Give the files to the user that needs them, with 755 or 750.',
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
    fix: 'Leave the flag out.',
    check: (stages) => at(of(stages, 'RUN').filter(({ flags }) => flags.get('security') === 'insecure')),
  }),
  rowOf({
    id: 'docker-sudo',
    title: 'sudo in a RUN',
    severity: 'low',
    cwes: [250],
    knownAs: ['DS-0010'],
    why: 'A build runs as the user that USER names; sudo in the image helps an attacker who breaks in later.',
    fix: 'Put the command before USER, and do not install sudo.',
    check: (stages) => runs(stages, ([first]) => first === 'sudo'),
  }),
  rowOf({
    id: 'docker-untagged',
    title: 'Base image without a fixed tag',
    severity: 'low',
    cwes: [829, 1357],
    knownAs: ['DS-0001'],
    why: 'latest, or no tag, is another image tomorrow: the build cannot be repeated.',
    fix: 'Name a version, or better a digest.',
    check: untagged,
  }),
];
