// From a finding to a patch: the catalogue's where it has one for the CVE, else a rule of our own by the class of the
// weakness, the path and the parameter. What comes out is a draft with its explanation; nothing is in force yet.
import { severityOf, type DetailsRow, type FindingRow } from '../findings/fields.js';
import { unfit } from '../kit/endpoint.js';
import type { CataloguePatch, FirewallRequest } from './firewall.js';
import { attackOf, maskRequest, placeOf, type Place, type RequestOrigin } from './request.js';
import { pathPattern, ruleText, type Strategy } from './rule-text.js';
import { benignOf, harmlessValues, mutationsOf } from './variants.js';
import { classOf, typeOf, type WeaknessClass } from './weakness-classes.js';

export interface Wish {
  readonly strategy?: Strategy | undefined;
  /** The request to refuse, where the finding has none. */
  readonly request?: Omit<FirewallRequest, 'name'> | undefined;
  readonly parameter?: string | undefined;
  /** Values that have to go on working. */
  readonly benignValues?: readonly string[] | undefined;
}

export interface Proposal {
  readonly origin: 'catalogue' | 'own';
  readonly strategy: Strategy | 'catalogue';
  readonly cve: string;
  readonly name: string;
  readonly explanation: readonly string[];
  readonly attack: FirewallRequest;
  readonly attackOrigin: RequestOrigin;
  readonly mutations: readonly FirewallRequest[];
  readonly benign: readonly FirewallRequest[];
  /** Of the catalogue; an own rule gets its id when it is stored. */
  readonly ruleId: number | null;
  /** The text, once the id is known; '' for a rule of the catalogue. */
  readonly text: (ruleId: number) => string;
}

const originWords: Readonly<Record<RequestOrigin, string>> = {
  given: 'The request that is to be refused was given with the proposal.',
  evidence: 'The request that is to be refused is the one in the evidence of the finding.',
  sample: 'The finding names a place and no request; a sample attack of its class stands in for it.',
  catalogue: 'The finding has no request; the first attack of the catalogue stands in for it.',
};

/** Of the catalogue: proven by the finding's own request where it has one, else by the catalogue's. */
function fromCatalogue(patch: CataloguePatch, row: FindingRow, details: DetailsRow | null, wish: Wish): Proposal {
  const given = givenRequest(wish);
  const own = given === null ? ownRequest(row, details) : { request: given, origin: 'given' as const };
  const [first] = patch.attacks;
  const attack = own?.request ?? first;
  if (attack === undefined) throw new Error(`the catalogue's patch ${patch.rule_id} has no attack`);
  const attackOrigin = own?.origin ?? 'catalogue';
  return {
    origin: 'catalogue',
    strategy: 'catalogue',
    cve: patch.cve,
    name: `${patch.cve} ${patch.title}`,
    explanation: [
      `The catalogue has a rule for ${patch.cve}: ${patch.title}.`,
      originWords[attackOrigin],
      `${patch.attacks.length} attacks and ${patch.benign.length} harmless requests of the catalogue are tried, too.`,
    ],
    attack,
    attackOrigin,
    mutations: patch.attacks,
    benign: patch.benign,
    ruleId: patch.rule_id,
    text: () => '',
  };
}

/** A request of the finding's evidence; a sample of ours would say nothing about the catalogue's vulnerability. */
function ownRequest(row: FindingRow, details: DetailsRow | null) {
  const found = attackOf(row, details, null);
  return found?.origin === 'evidence' ? found : null;
}

function givenRequest({ request, parameter }: Wish): FirewallRequest | null {
  return request === undefined ? null : maskRequest({ name: 'the given request', ...request }, parameter ?? null);
}

/** The parameter that the rule looks at: the one that is named, or the only one that the request has. */
function parameterOf(place: Place, attack: FirewallRequest): string | null {
  if (place.parameter !== null) return place.parameter;
  const query = new URLSearchParams(attack.uri.split('?', 2)[1] ?? '');
  const names = [...new Set(query.keys())];
  return names.length === 1 && attack.body === '' ? (names[0] ?? null) : null;
}

interface Choice {
  readonly strategy: Strategy;
  readonly valueType: string | null;
  readonly reason: string;
}

/** The narrowest rule that is possible, or the one that was asked for; throws 422 where that one is not. */
function choose(wish: Wish, parameter: string | null, weakness: WeaknessClass | null): Choice {
  const values = wish.benignValues ?? [];
  const valueType = parameter === null ? null : typeOf(values);
  const { strategy } = wish;
  if (strategy === 'positive' && parameter === null)
    throw unfit('/strategy', 'positive needs a parameter', 'name it in /parameter');
  if (strategy === 'positive' && valueType === null)
    throw unfit(
      '/benign_values',
      'do not tell the type of the parameter',
      'give values that it has in ordinary requests, all of one type such as 17 or jane@example.org',
    );
  if (strategy === 'positive' || (strategy === undefined && valueType !== null))
    return { strategy: 'positive', valueType, reason: `The parameter has to be of the type ${valueType}.` };
  if (weakness === null)
    throw unfit(
      '/strategy',
      'cannot be chosen: nothing in a request shows this weakness',
      'give /parameter and /benign_values, so that the rule can demand the type that the parameter has',
    );
  if (strategy === 'strict') {
    if (weakness.ordinary === null || parameter === null)
      throw unfit(
        '/strategy',
        `strict is not possible for ${weakness.name}${parameter === null ? ' without a parameter' : ''}`,
        'take signature',
      );
    return { strategy, valueType: null, reason: 'The parameter may hold ordinary characters and no others.' };
  }
  return { strategy: 'signature', valueType: null, reason: `The rule looks for signs of ${weakness.name}.` };
}

/** A draft for the finding; throws 422 that says what is missing. */
export function propose(
  row: FindingRow,
  details: DetailsRow | null,
  catalogue: readonly CataloguePatch[],
  wish: Wish,
): Proposal {
  const [listed] = catalogue;
  if (listed !== undefined && wish.strategy === undefined) return fromCatalogue(listed, row, details, wish);
  const weakness = classOf(row.cwes);
  const given = givenRequest(wish);
  const found =
    given === null ? attackOf(row, details, weakness, wish.parameter) : { request: given, origin: 'given' as const };
  if (found === null)
    throw unfit(
      '/vulnerability_id',
      'names a finding without a request or an address of the application',
      'give /request: method, uri, headers and body of an attack that the patch has to refuse',
    );
  const { request: attack, origin } = found;
  const place = placeOf(row, details, wish.parameter);
  const parameter = parameterOf(place, attack);
  const { strategy, valueType, reason } = choose(wish, parameter, weakness);
  const path = decodePath(attack.uri);
  const values = wish.benignValues ?? harmlessValues(valueType, weakness);
  const target = { ...place, method: attack.method, target: attack.uri, parameter };
  const facts = {
    title: row.title,
    cwe: row.cwes[0] ?? null,
    severity: severityOf(row),
    path,
    parameter,
    strategy,
    weakness,
    valueType,
  };
  return {
    origin: 'own',
    strategy,
    cve: row.vuln_ids.find((id) => /^CVE-\d{4}-\d{4,7}$/.test(id)) ?? '',
    name: row.title.slice(0, 200),
    explanation: [
      path === null
        ? 'It holds on every path: the attack stands in the path itself.'
        : `It holds on the path ${path}, written as ${pathPattern(path)}, whatever the method.`,
      parameter === null ? 'It looks at every argument.' : `It looks at the parameter ${parameter}.`,
      reason,
      originWords[origin],
    ],
    attack,
    attackOrigin: origin,
    mutations: mutationsOf(attack, parameter),
    benign: benignOf(target, values),
    ruleId: null,
    text: (ruleId) => ruleText({ ruleId, ...facts }),
  };
}

/** The path that the rule is bound to; null where the path carries the attack, so that it is never the same twice. */
function decodePath(uri: string): string | null {
  const path = uri.split('?', 1)[0] ?? '/';
  let decoded: string;
  try {
    decoded = decodeURIComponent(path);
  } catch {
    return null;
  }
  return /\.\.|[\u0000-\u001f<>"'`;|(){}\\]|\/\//.test(decoded) ? null : decoded;
}
