// Artifacts of the real rule set for tests of the road: compiled with the compiler's door, automata from the cache that
// every command uses. Without a rule set on disk there is nothing to compile, and the tests say so.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  compileProgram,
  createFileCache,
  currentRuleSet,
  diskReader,
  emitArtifact,
  formatDiagnostics,
  loadCoreRuleSet,
  renderPolicy,
  resolvePolicy,
} from '#compiler';
import { requireSettings } from '#settings';
import { engineModule } from '../inspection/inspection.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const data = process.env['GATEHOUSE_DATA'] ?? join(root, 'data');

/** The rule set in use, or what CRS_DIR names; null = none. */
const findRuleSet = (): string | null => process.env['CRS_DIR'] || currentRuleSet(data);

/** For `skip:` of a test. */
export const withoutRules: string | false =
  findRuleSet() === null ? 'no CRS: run `node bin/crs.mjs` or set CRS_DIR' : false;

/** What the settings (specification's names) compile to. */
export async function realArtifact(settings: object): Promise<Buffer> {
  const mapping = process.env['GATEHOUSE_UNICODE_MAPPING'] ?? join(data, 'crs/unicode.mapping');
  const reader = {
    ...diskReader,
    read: (path: string) => diskReader.read(path) ?? (path === 'unicode.mapping' ? diskReader.read(mapping) : null),
  };
  const { crs, diagnostics } = loadCoreRuleSet(findRuleSet() ?? '', reader);
  if (crs === null) throw new Error(formatDiagnostics(diagnostics));
  const resolved = resolvePolicy(requireSettings(settings), crs);
  if (resolved.policy === null) throw new Error(formatDiagnostics(resolved.diagnostics));
  const { program, diagnostics: fromRules } = compileProgram(renderPolicy(resolved.policy), { reader });
  if (program === null) throw new Error(formatDiagnostics(fromRules));
  return (await emitArtifact(program, { cache: createFileCache(join(data, 'cache/automata')) })).bytes;
}

/** What this rule text alone compiles to. */
export async function artifactOfText(text: string): Promise<Buffer> {
  const { program, diagnostics } = compileProgram([{ path: 'test.conf', text }], { reader: diskReader });
  if (program === null) throw new Error(formatDiagnostics(diagnostics));
  return (await emitArtifact(program, { cache: createFileCache(join(data, 'cache/automata')) })).bytes;
}

/** Changes of the harness's options that put the real engine behind the road. */
export function realEngine(
  artifact: Uint8Array,
  config: object,
): { readonly initial: object; readonly inspectionModule: string } {
  return { initial: { config, artifact }, inspectionModule: engineModule };
}
