// A client of /imports for tests.
import type { Test } from 'tap';
import type { TestApp } from '#api/testing/app';

/** Reports and answers have many shapes; each assertion says what it expects. */
export type Json = Record<string, any>;
const v1 = '/api/v1';

/** Sends reports as tools do, and reads what became of them. */
export class Client {
  readonly at: TestApp;
  readonly token: string;
  constructor(at: TestApp, token: string) {
    [this.at, this.token] = [at, token];
  }
  call(method: string, url: string, body?: unknown) {
    return this.at.call(method, `${v1}${url}`, { token: this.token, body });
  }
  async application(): Promise<string> {
    return String(
      (await this.call('POST', '/applications', { name: `a${Math.random()}`, environment: 'prod' })).body['id'],
    );
  }
  async send(application: string, report: unknown, fields: Record<string, string> = {}, url = '/imports') {
    const bytes = Buffer.isBuffer(report)
      ? report
      : Buffer.from(typeof report === 'string' ? report : JSON.stringify(report));
    const parts = Object.entries({ application_id: application, ...fields }).map(
      ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    const file = `--b\r\nContent-Disposition: form-data; name="file"; filename="r"\r\nContent-Type: text/plain\r\n\r\n`;
    const payload = Buffer.concat([Buffer.from(`${parts.join('')}${file}`), bytes, Buffer.from('\r\n--b--\r\n')]);
    const reply = await this.at.app.inject({
      method: 'POST',
      url: `${v1}${url}`,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'multipart/form-data; boundary=b' },
      payload,
    });
    return { status: reply.statusCode, body: JSON.parse(reply.body) as Json };
  }
  async findings(application: string): Promise<Json[]> {
    const rows = (await this.call('GET', `/findings?application_id=${application}&limit=500&sort=id`)).body['items'];
    return Promise.all((rows as Json[]).map(async ({ id }) => (await this.call('GET', `/vulnerabilities/${id}`)).body));
  }
}

/** Every record of a report is in one of the counts. */
export function adds(t: Test, report: Json): void {
  const { parsed, created, updated, reopened, unchanged, duplicates_in_file, dropped } = report;
  t.equal(created + updated + reopened + unchanged + duplicates_in_file + dropped, parsed, 'the numbers add up');
}
