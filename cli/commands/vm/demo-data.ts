// `gatehouse demo-data`: a made-up organisation in a running installation, sent through the same imports that tools
// use; `--remove` takes it away again, findings and all.
import { createOrganisation, type DemoApplication } from '#vm-manager/demo';
import { parseOptions } from '../../command-line.js';
import { Refusal, wrongUsage } from '../../refusal.js';

const usage = 'Usage: gatehouse demo-data --token apt_… [--url http://127.0.0.1:8095] [--remove]';

interface Answer {
  readonly id: string;
  readonly report?: { readonly created: number };
  readonly items?: readonly { readonly id: string; readonly name: string }[];
  readonly detail?: string;
}

class Api {
  private readonly base: string;
  private readonly token: string;

  constructor(url: string, token: string) {
    [this.base, this.token] = [`${url.replace(/\/+$/, '')}/api/v1`, token];
  }

  async call(method: string, path: string, body?: string | FormData): Promise<Answer> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.token}` };
    if (typeof body === 'string') headers['content-type'] = 'application/json';
    const reply = await fetch(`${this.base}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    }).catch((error: unknown) => {
      throw new Refusal(`${this.base} does not answer: is Gatehouse running there? (${String(error)})`);
    });
    const text = await reply.text();
    const answer = (text.startsWith('{') ? JSON.parse(text) : {}) as Answer;
    if (!reply.ok) throw new Refusal(`${method} ${path} was answered with ${reply.status}: ${answer.detail ?? text}`);
    return answer;
  }

  /** Ids of what is marked as demo data, however many there are. */
  async demoIds(kind: 'projects' | 'applications'): Promise<string[]> {
    const found: string[] = [];
    for (;;) {
      const { items = [] } = await this.call('GET', `/${kind}?demo=true&limit=500&offset=${found.length}&sort=id`);
      found.push(...items.map(({ id }) => id));
      if (items.length < 500) return found;
    }
  }
}

async function add(api: Api): Promise<string> {
  if ((await api.demoIds('projects')).length > 0)
    throw new Refusal('there is demo data already; `gatehouse demo-data --remove` takes it away.');
  let [applications, findings] = [0, 0];
  for (const project of createOrganisation()) {
    const { name, owner } = project;
    const { id } = await api.call('POST', '/projects', JSON.stringify({ name, owner, demo: true }));
    for (const application of project.applications) {
      findings += await addApplication(api, id, application);
      applications++;
    }
  }
  return `3 projects, ${applications} applications, ${findings} findings`;
}

async function addApplication(
  api: Api,
  project: string,
  { reports, events, ...application }: DemoApplication,
): Promise<number> {
  const made = await api.call(
    'POST',
    '/applications',
    JSON.stringify({ ...application, project_id: project, demo: true }),
  );
  let findings = 0;
  for (const { format, text } of reports) {
    const form = new FormData();
    form.set('application_id', made.id);
    form.set('format', format);
    form.set('file', new Blob([text]), `${format}.json`);
    findings += (await api.call('POST', '/imports', form)).report?.created ?? 0;
  }
  if (events.length > 0) {
    const nowMs = Date.now();
    const sent = events.map(({ minutes_ago: minutes, ...event }) => ({
      ...event,
      application_id: made.id,
      at: new Date(nowMs - minutes * 60_000).toISOString(),
    }));
    await api.call('POST', '/runtime/events', JSON.stringify({ events: sent }));
  }
  return findings;
}

async function remove(api: Api): Promise<string> {
  const applications = await api.demoIds('applications');
  for (const id of applications) await api.call('DELETE', `/applications/${id}?purge=true`);
  const projects = await api.demoIds('projects');
  for (const id of projects) await api.call('DELETE', `/projects/${id}`);
  return `${projects.length} projects and ${applications.length} applications are gone; the audit log tells of them`;
}

export async function runDemoData(argv: readonly string[]): Promise<number> {
  const { values } = parseOptions({
    args: [...argv],
    options: {
      url: { type: 'string', default: 'http://127.0.0.1:8095' },
      token: { type: 'string' },
      remove: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  if (values.token === undefined) throw wrongUsage(`demo-data needs a token with the scope admin or write.\n${usage}`);
  const api = new Api(values.url, values.token);
  console.log(await (values.remove ? remove(api) : add(api)));
  return 0;
}
