// Applications and findings of a test, made through the API, and the chains that it answers.
import type { TestApp } from '#api/testing/app';

export type Body = Record<string, unknown>;
export interface Chains {
  readonly chains: readonly {
    readonly id: string;
    readonly kind: string;
    readonly danger: boolean;
    readonly proven_hops: number;
    readonly mitre: readonly string[];
    readonly hops: readonly { readonly vuln_id: string }[];
  }[];
  readonly stats: Readonly<Record<string, number>>;
}

const v1 = '/api/v1';

/** Somebody who uses /api/v1. */
export class Organisation {
  readonly at: TestApp;
  readonly token: string;
  constructor(at: TestApp, token: string) {
    this.at = at;
    this.token = token;
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    token = this.token,
  ): Promise<{ status: number; body: Body }> {
    return this.at.call(method, `${v1}${path}`, { token, body });
  }

  async made(path: string, body: Body): Promise<string> {
    const reply = await this.call('POST', path, body);
    if (reply.status !== 201) throw new Error(JSON.stringify(reply.body));
    return String(reply.body['id']);
  }

  application(name: string, more: Body = {}): Promise<string> {
    return this.made('/applications', { name, environment: 'prod', business_criticality: 'critical', ...more });
  }

  finding(application: string, cwe: string, title: string, more: Body = {}): Promise<string> {
    return this.made('/vulnerabilities', { application_id: application, cwe: [cwe], title, severity: 'high', ...more });
  }

  async chains(query = '', token = this.token): Promise<Chains> {
    const reply = await this.call('GET', `/graph/attack-chains${query}`, undefined, token);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    return reply.body as unknown as Chains;
  }
}
