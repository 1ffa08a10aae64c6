// Requests by the rules alone and with match scoring, in the oracle with the CRS.
import { createMemoryStore, type Inspector, type OpinionMode } from '#engine';
import { createInterpreter } from '#engine/compile';
import { requireSettings } from '#settings';
import { compileProgram } from '../compile-program.js';
import { formatDiagnostics } from '../diagnostics/format.js';
import { diskReader } from '../disk/disk-reader.js';
import { loadCoreRuleSet } from '../policy/crs.js';
import { renderPolicy, resolvePolicy } from '../policy/policy.js';
import { findCrsOf } from './core-rules.js';

export interface Asked {
  readonly method?: string;
  readonly uri?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** The oracle with version 4 of the CRS and match scoring, which `settings` may set otherwise. */
export function inspectorOf(settings: object): Inspector {
  const loaded = loadCoreRuleSet(findCrsOf('4') as string, diskReader);
  if (loaded.crs === null) throw new Error(formatDiagnostics(loaded.diagnostics));
  const { policy } = resolvePolicy(requireSettings({ second_opinion: 'enforce', ...settings }), loaded.crs);
  const { program } = compileProgram(policy === null ? [] : renderPolicy(policy), { reader: diskReader });
  if (program === null) throw new Error('the policy does not compile');
  return createInterpreter(program);
}

/** Of a request by a browser; `mode` null: by the rules alone. */
export function isBlocked(inspector: Inspector, mode: OpinionMode | null, asked: Asked): boolean {
  const { method = 'POST', uri = '/a', headers = [], body } = asked;
  const length = body === undefined ? [] : ['Content-Length', `${body.length}`];
  const head = {
    method,
    uri,
    protocol: 'HTTP/1.1',
    headers: ['Host', 'shop.example', 'User-Agent', 'Mozilla/5.0', 'Accept', '*/*', ...length, ...headers],
    clientIp: '192.0.2.1',
    clientPort: 1,
    serverIp: '192.0.2.2',
    serverPort: 80,
  };
  const environment = { uniqueId: 'x', nowMs: 0, store: createMemoryStore(), secondOpinion: mode };
  const transaction = inspector.begin(head, environment);
  if (inspector.requestHeaders(transaction) === null)
    inspector.requestBody(transaction, body === undefined ? null : Buffer.from(body, 'latin1'));
  return inspector.finish(transaction).kind === 'block';
}
