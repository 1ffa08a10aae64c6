// Threat models and what else is derived of an application, for an organisation in which there is one of everything.
import type { Json } from '../import-client.js';

interface Maker {
  post(url: string, body: object): Promise<Json>;
  made(url: string, body: object): Promise<string>;
}

export const dfd = { elements: [{ id: 'shop', name: 'Zebra', kind: 'process', internet: true }] };

export async function fillThreatModel(make: Maker, application: string): Promise<string> {
  const id = await make.made('/threat-models', { application_id: application, name: 'filled', dfd });
  await make.post(`/threat-models/${id}/generate`, { derive: false });
  return id;
}
