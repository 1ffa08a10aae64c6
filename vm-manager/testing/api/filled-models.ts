// Threat models and what else is derived of an application, for an organisation in which there is one of everything.
import type { Client, Json } from '../import-client.js';
import { runtimeEvent } from './some-bodies.js';

interface Maker {
  post(url: string, body: object): Promise<Json>;
  made(url: string, body: object): Promise<string>;
}

const dfd = { elements: [{ id: 'shop', name: 'Zebra', kind: 'process', internet: true }] };

const slots = [{ any_of: ['ssrf'] }, { any_of: ['idor'] }];

/** A threat model, and what is said of the attack graph. */
export async function fillModels(make: Maker, application: string, finding: string): Promise<Record<string, string>> {
  const id = await make.made('/threat-models', { application_id: application, name: 'filled', dfd });
  await make.post(`/threat-models/${id}/generate`, { derive: false });
  // a rule of the organisation: whoever's chains it decides may see it, whatever project they are of
  const rule = await make.made('/graph/toxic-rules', { slug: 'own-rule', name: 'Own rule', slots });
  return { '/threat-models': id, '/graph/toxic-rules': rule, '/graph/capabilities': finding };
}

interface Asking extends Maker {
  readonly client: Client;
}
export async function insertEvent(make: Asking, application: string): Promise<string> {
  await make.post('/runtime/events', { events: [{ ...runtimeEvent, application_id: application }] });
  const list = (await make.client.call('GET', '/runtime/events')).body['items'] as Json[];
  return String(list[0]?.['id']);
}

export const clusterRule = { name: 'c', predicate: { field: 'rule', op: 'eq', value: 'x' }, effect: 'note' };

/** Members that bodies of these modules need beyond their schemas. */
export const modelBodies = (application: string, finding: string): Record<string, Json> => ({
  'POST /threat-models': { name: 'new', application_id: application, dfd, document: undefined },
  'PATCH /threat-models/:id': { name: 'other', dfd, document: undefined },
  'PATCH /threat-models/:id/threats/:tid': { status: 'open', vuln_ids: [finding] },
  'PUT /graph/capabilities/:vuln_id': { override: null },
  'POST /graph/toxic-rules': { slug: 'new-rule', slots },
  'POST /assistant/explain-finding': { vuln_id: finding },
  'POST /assistant/summarize': { scope: { application_id: application } },
  'PUT /assistant/settings': { endpoint: '', key: null },
  'POST /runtime/events/:id/link': { vuln_id: finding },
  'PUT /bi/dashboards/:id': { widgets: [{ metric: 'scans', shape: 'number' }] },
  'POST /runtime/sensors': { application_id: application },
  'POST /k8s-posture/clusters': { name: 'new', application_map: [] },
  'PATCH /k8s-posture/clusters/:id': { name: 'other', application_map: [] },
  'POST /k8s-runtime/rules': { ...clusterRule, name: 'd', cwe: 78 },
  'PATCH /k8s-runtime/rules/:id': { ...clusterRule, name: 'e', cwe: 78 },
});
