// How long `gatehouse compile` takes from its start to the artifact on the disk, a fresh process each time: cold
// (nothing cached), with nothing changed, and with one custom rule added that was never seen before.
import type { BenchContext } from '../context.js';
import { compileSettings } from '../artifacts.js';
import { temporaryDirectory } from '../processes.js';
import { gatehouseSettings } from '../systems.js';

function customRule(word: string): object {
  return {
    id: 1_000_001,
    name: 'bench',
    enabled: true,
    kind: 'visual',
    variable: 'ARGS',
    operator: 'rx',
    value: `${word}[0-9]{3,8}end`,
    action: 'block',
    phase: 2,
    transformations: ['lowercase'],
    redirect_url: '',
  };
}

/** Of the two that take a second, for each cold one, which takes ten. */
const runsPerCache = 5;

export async function compileCase(context: BenchContext): Promise<void> {
  const { root, rules, options, recorder } = context;
  for (const paranoia of options.paranoia) {
    for (let repetition = 0; repetition < (options.short ? 1 : Math.min(3, options.repetitions)); repetition++) {
      const temporary = temporaryDirectory('compile');
      try {
        const plain = gatehouseSettings(paranoia, 1);
        context.progress(`compile: PL${paranoia}, cold`);
        const cold = await compileSettings(root, rules, temporary.path, plain);
        recorder.add(`compile / PL${paranoia} / cold`, 'ms', 'lower', cold.tookMs);
        recorder.add(`compile / PL${paranoia} / artifact`, 'MB', 'lower', cold.bytes / 1_048_576);
        for (let run = 0; run < (options.short ? 2 : runsPerCache); run++) {
          context.progress(`compile: PL${paranoia}, with cached automata, ${run + 1}`);
          recorder.add(
            `compile / PL${paranoia} / nothing changed`,
            'ms',
            'lower',
            (await compileSettings(root, rules, temporary.path, plain)).tookMs,
          );
          const added = await compileSettings(
            root,
            rules,
            temporary.path,
            gatehouseSettings(paranoia, 1, [customRule(`fresh${repetition}x${run}`)]),
          );
          recorder.add(`compile / PL${paranoia} / one custom rule added`, 'ms', 'lower', added.tookMs);
        }
      } finally {
        temporary.remove();
      }
    }
  }
}
