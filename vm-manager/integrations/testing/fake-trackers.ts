// The public REST APIs of the trackers, as far as they are asked, with the shapes of their answers.
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Answer, Api, Asked, Fake, FakeIssue, Json } from './fake-server.js';

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** One kind of tracker for the tests that hold for all. */
export interface Case {
  readonly type: string;
  readonly config: Json;
  readonly secret: string;
  readonly api: Api;
  readonly isAdmitted: (headers: IncomingHttpHeaders, body: string) => boolean;
  readonly key: (issue: FakeIssue) => string;
  /** The text of a ticket, of its title, and of a comment, as it came. */
  readonly text: (issue: FakeIssue) => string;
  readonly title: (issue: FakeIssue) => string;
  readonly reads: boolean;
  /** Whether a request makes a ticket. */
  readonly isCreate: (asked: Asked) => boolean;
  /** A refusal of a field, in the tracker's shape, and a word of it. */
  readonly refusal: { readonly status: number; readonly json: unknown; readonly says: RegExp };
  /** The address of an account that the tracker names; null: it names none. */
  readonly namesAssignee: boolean;
}

const texts = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? '').replaceAll('\\n', '\n');

const jiraView = (api: string, issue: FakeIssue) => ({
  id: String(10_000 + issue.number),
  key: `SEC-${issue.number}`,
  self: `https://jira.invalid${api}/issue/${10_000 + issue.number}`,
});

const jiraIssue = (api: string, issue: FakeIssue, isCloud: boolean) => ({
  ...jiraView(api, issue),
  expand: 'renderedFields,names,schema',
  fields: {
    status: {
      name: issue.isOpen ? 'To Do' : 'Done',
      id: issue.isOpen ? '10000' : '10002',
      statusCategory: { id: issue.isOpen ? 2 : 3, key: issue.isOpen ? 'new' : 'done', name: 'x' },
    },
    assignee: issue.assignee === null ? null : { displayName: 'Somebody', emailAddress: issue.assignee },
    comment: {
      comments: issue.comments.map(({ id, author, text }) => ({
        id,
        author: { displayName: author },
        body: isCloud && text.startsWith('{') ? (JSON.parse(text) as unknown) : text,
      })),
      maxResults: issue.comments.length,
      total: issue.comments.length,
      startAt: 0,
    },
  },
});

function jira(api: string, isCloud: boolean): Api {
  const view = (issue: FakeIssue) => jiraView(api, issue);
  return ({ method, path, query, body }, fake): Answer => {
    const [, id, rest] = new RegExp(`^${api}/issue/([^/]+)(?:/(.*))?$`).exec(path) ?? [];
    const issue = fake.issues.find((one) => [view(one).id, view(one).key].includes(id ?? ''));
    if (path === `${api}/myself`) return { status: 200, json: { accountId: '5b1', displayName: 'Gate Bot' } };
    if (path === `${api}/project/SEC`)
      return {
        status: 200,
        json: { id: '1', key: 'SEC', name: 'Security', issueTypes: [{ name: 'Bug' }, { name: 'Task' }] },
      };
    if (path === (isCloud ? `${api}/search/jql` : `${api}/search`)) {
      const label = /labels = "([^"]+)"/.exec(query.get('jql') ?? '')?.[1] ?? '';
      const found = fake.issues.filter((one) => (one.raw['fields'].labels as string[]).includes(label)).map(view);
      return { status: 200, json: { issues: found, ...(isCloud ? { isLast: true } : { total: found.length }) } };
    }
    if (method === 'POST' && path === `${api}/issue`) return { status: 201, json: view(fake.add(body)) };
    if (issue === undefined)
      return {
        status: 404,
        json: { errorMessages: ['Issue does not exist or you do not have permission to see it.'], errors: {} },
      };
    if (rest === undefined) return { status: 200, json: jiraIssue(api, issue, isCloud) };
    if (rest === 'comment') {
      const made = fake.say(
        issue,
        'Gate Bot',
        typeof body['body'] === 'string' ? body['body'] : JSON.stringify(body['body']),
      );
      return { status: 201, json: { id: made.id } };
    }
    if (rest === 'transitions' && method === 'GET')
      return {
        status: 200,
        json: {
          transitions: [
            { id: '11', name: 'To Do', to: { name: 'To Do', statusCategory: { key: 'new' } } },
            { id: '31', name: 'Done', to: { name: 'Done', statusCategory: { key: 'done' } } },
          ],
        },
      };
    if (rest === 'transitions') {
      issue.isOpen = body['transition'].id !== '31';
      return { status: 204 };
    }
    return null;
  };
}

const adfText = (node: Json): string =>
  typeof node['text'] === 'string'
    ? node['text']
    : ((node['content'] as Json[] | undefined) ?? []).map(adfText).join('\n');

const githubApi: Api = ({ method, path, query, body }, fake) => {
  const view = (one: FakeIssue) => ({
    id: 9_000_000 + one.number,
    number: one.number,
    title: one.raw['title'],
    body: one.raw['body'],
    state: one.isOpen ? 'open' : 'closed',
    state_reason: one.isOpen ? null : 'completed',
    html_url: `https://github.invalid/acme/shop/issues/${one.number}`,
    comments: one.comments.length,
    created_at: one.createdAt,
    assignee: null,
  });
  const [, number, rest] = /^\/repos\/acme\/shop\/issues\/(\d+)(?:\/(comments))?$/.exec(path) ?? [];
  if (path === '/repos/acme/shop')
    return { status: 200, json: { full_name: 'acme/shop', has_issues: true, archived: false } };
  if (path === '/repos/acme/shop/issues' && method === 'GET') {
    const since = query.get('since') ?? '';
    const found = fake.issues.filter((one) => one.createdAt >= since).reverse();
    return {
      status: 200,
      json: [{ number: 900, pull_request: {}, body: 'x', created_at: '2099-01-01' }, ...found.map(view)],
    };
  }
  if (path === '/repos/acme/shop/issues') return { status: 201, json: view(fake.add(body)) };
  const issue = fake.issues[Number(number) - 1];
  if (issue === undefined)
    return { status: 404, json: { message: 'Not Found', documentation_url: 'https://docs.invalid' } };
  if (rest === 'comments' && method === 'GET')
    return {
      status: 200,
      json: issue.comments.map(({ id, author, text }) => ({ id: Number(id), body: text, user: { login: author } })),
    };
  if (rest === 'comments') return { status: 201, json: { id: Number(fake.say(issue, 'bot', body['body']).id) } };
  if (method === 'PATCH') issue.isOpen = body['state'] === 'open';
  return { status: 200, json: view(issue) };
};

const gitlabApi: Api = ({ method, path, query, body }, fake) => {
  const view = (one: FakeIssue) => ({
    id: 70_000 + one.number,
    iid: one.number,
    title: one.raw['title'],
    description: one.raw['description'],
    state: one.isOpen ? 'opened' : 'closed',
    web_url: `https://gitlab.invalid/acme/shop/-/issues/${one.number}`,
    user_notes_count: one.comments.length,
    assignees: [],
  });
  // the server hands the path decoded by nobody: the name of the project is one segment
  const base = '/api/v4/projects/acme%2Fshop';
  if (!path.startsWith(base)) return { status: 404, json: { message: '404 Project Not Found' } };
  const [, iid, rest] = /^\/issues\/(\d+)(?:\/(notes))?$/.exec(path.slice(base.length)) ?? [];
  if (path === base)
    return {
      status: 200,
      json: { id: 7, path_with_namespace: 'acme/shop', issues_access_level: 'enabled', archived: false },
    };
  if (path === `${base}/issues` && method === 'GET') {
    const found = fake.issues.filter((one) => String(one.raw['description']).includes(query.get('search') ?? '?'));
    return { status: 200, json: found.map(view) };
  }
  if (path === `${base}/issues`) return { status: 201, json: view(fake.add(body)) };
  const issue = fake.issues[Number(iid) - 1];
  if (issue === undefined) return { status: 404, json: { message: '404 Not found' } };
  if (rest === 'notes' && method === 'GET') {
    const notes = issue.comments.map(({ id, author, text }) => ({
      id: Number(id),
      body: text,
      author: { name: author, username: author },
      system: false,
      internal: false,
    }));
    return {
      status: 200,
      json: [{ id: 1, body: 'changed the title', author: { name: 'x' }, system: true }, ...notes].reverse(),
    };
  }
  if (rest === 'notes') return { status: 201, json: { id: Number(fake.say(issue, 'bot', body['body']).id) } };
  if (method === 'PUT') issue.isOpen = body['state_event'] === 'reopen';
  return { status: 200, json: view(issue) };
};

const servicenowApi: Api = ({ method, path, query, body }, fake) => {
  const idOf = (one: FakeIssue): string => one.number.toString(16).padStart(32, '0');
  const view = (one: FakeIssue) => ({
    sys_id: idOf(one),
    number: `INC${String(one.number).padStart(7, '0')}`,
    state: one.isOpen ? '1' : '6',
    'assigned_to.email': one.assignee ?? '',
  });
  const asked = query.get('sysparm_query') ?? '';
  if (path === '/api/now/table/sys_journal_field') {
    const id = /element_id=([0-9a-f]{32})/.exec(asked)?.[1];
    const issue = fake.issues.find((one) => idOf(one) === id);
    const rows = (issue?.comments ?? []).map(({ id: sys, author, text }) => ({
      sys_id: sys,
      value: text,
      sys_created_by: author,
    }));
    return { status: 200, json: { result: rows.reverse() } };
  }
  if (path === '/api/now/table/incident' && method === 'POST')
    return { status: 201, json: { result: view(fake.add(body)) } };
  if (path === '/api/now/table/incident') {
    const [, name, value] = /^(\w+)=(.*)$/.exec(asked) ?? [];
    const found = fake.issues.filter((one) => (({ ...one.raw, ...view(one) }) as Json)[name ?? ''] === value);
    return { status: 200, json: { result: found.map(view) } };
  }
  const issue = fake.issues.find((one) => path === `/api/now/table/incident/${idOf(one)}`);
  if (issue === undefined)
    return {
      status: 404,
      json: { error: { message: 'No Record found', detail: 'Record does not exist' }, status: 'failure' },
    };
  if (method === 'PATCH') {
    if (body['comments'] !== undefined) fake.say(issue, 'gate.bot', body['comments']);
    if (body['state'] !== undefined) issue.isOpen = body['state'] !== '6';
  }
  return { status: 200, json: { result: view(issue) } };
};

const webhookApi: Api = ({ body, headers }, fake) => {
  const { type, marker } = body;
  const seen = fake.asked.filter((one) => one.headers['webhook-id'] === headers['webhook-id']).length > 1;
  const issue = fake.issues.find((one) => one.raw['marker'] === marker);
  if (type === 'ticket.create') {
    const made = issue ?? fake.add(body);
    return { status: 200, json: { key: `HOOK-${made.number}`, url: `https://hook.invalid/${made.number}` } };
  }
  if (seen || issue === undefined) return { status: 204 };
  if (type === 'ticket.comment') fake.say(issue, 'gatehouse', body['text']);
  if (type === 'ticket.close') issue.isOpen = false;
  if (type === 'ticket.reopen') issue.isOpen = true;
  return { status: 204 };
};

const hookSecret = 'hook-signing-key-0123456789abcdef';
const isSigned = (headers: IncomingHttpHeaders, body: string): boolean => {
  const text = `${headers['webhook-id'] as string}.${headers['webhook-timestamp'] as string}.${body}`;
  return headers['webhook-signature'] === `v1,${createHmac('sha256', hookSecret).update(text).digest('base64')}`;
};

const common = { reads: true, namesAssignee: false } as const;
const jiraRefusal = {
  status: 400,
  json: {
    errorMessages: [],
    errors: { priority: 'The priority selected is invalid.', customfield_1: 'Team is required.' },
  },
  says: /priority: The priority selected is invalid\.; customfield_1: Team is required/,
};
const priorities = { high: 'High' };

export const cases: readonly Case[] = [
  {
    ...common,
    type: 'jira_cloud',
    config: {
      project: 'SEC',
      issue_type: 'Bug',
      email: 'bot@example.org',
      labels: ['security', 'gh-{{severity}}'],
      priorities,
    },
    secret: 'jira-cloud-token-8a7b6c5d4e',
    api: jira('/rest/api/3', true),
    isAdmitted: ({ authorization }) => authorization === basic('bot@example.org', 'jira-cloud-token-8a7b6c5d4e'),
    key: ({ number }) => `SEC-${number}`,
    text: ({ raw }) => adfText(raw['fields'].description as Json),
    title: ({ raw }) => raw['fields'].summary as string,
    isCreate: ({ method, path }) => method === 'POST' && path === '/rest/api/3/issue',
    refusal: jiraRefusal,
    namesAssignee: true,
  },
  {
    ...common,
    type: 'jira_datacenter',
    config: { project: 'SEC', issue_type: 'Bug', labels: ['security', 'gh-{{severity}}'], priorities },
    secret: 'jira-dc-token-1q2w3e4r5t',
    api: jira('/rest/api/2', false),
    isAdmitted: ({ authorization }) => authorization === 'Bearer jira-dc-token-1q2w3e4r5t',
    key: ({ number }) => `SEC-${number}`,
    text: ({ raw }) => texts(raw['fields'].description),
    title: ({ raw }) => raw['fields'].summary as string,
    isCreate: ({ method, path }) => method === 'POST' && path === '/rest/api/2/issue',
    refusal: jiraRefusal,
    namesAssignee: true,
  },
  {
    ...common,
    type: 'github',
    config: { repository: 'acme/shop', labels: ['security', 'gh-{{severity}}'] },
    secret: 'github_pat_notarealone0123456789',
    api: githubApi,
    isAdmitted: ({ authorization }) => authorization === 'Bearer github_pat_notarealone0123456789',
    key: ({ number }) => `#${number}`,
    text: ({ raw }) => raw['body'] as string,
    title: ({ raw }) => raw['title'] as string,
    isCreate: ({ method, path }) => method === 'POST' && path.endsWith('/issues'),
    refusal: {
      status: 422,
      json: { message: 'Validation Failed', errors: [{ resource: 'Issue', field: 'labels', code: 'invalid' }] },
      says: /Validation Failed; labels: invalid/,
    },
  },
  {
    ...common,
    type: 'gitlab',
    config: { project: 'acme/shop', labels: ['security', 'gh-{{severity}}'] },
    secret: 'gitlab-token-notarealone-0123',
    api: gitlabApi,
    isAdmitted: (headers) => headers['private-token'] === 'gitlab-token-notarealone-0123',
    key: ({ number }) => `#${number}`,
    text: ({ raw }) => raw['description'] as string,
    title: ({ raw }) => raw['title'] as string,
    isCreate: ({ method, path }) => method === 'POST' && path.endsWith('/issues'),
    refusal: { status: 400, json: { message: { title: ['is too long'] } }, says: /title: is too long/ },
  },
  {
    ...common,
    type: 'servicenow',
    config: { user: 'gate.bot', priorities: { high: '1' }, fields: { category: '{{source}}' } },
    secret: 'servicenow-password-0123',
    api: servicenowApi,
    isAdmitted: ({ authorization }) => authorization === basic('gate.bot', 'servicenow-password-0123'),
    key: ({ number }) => `INC${String(number).padStart(7, '0')}`,
    text: ({ raw }) => raw['description'] as string,
    title: ({ raw }) => raw['short_description'] as string,
    isCreate: ({ method, path }) => method === 'POST' && path.endsWith('/incident'),
    refusal: {
      status: 400,
      json: { error: { message: 'Operation failed', detail: 'Data policy: Category is mandatory' }, status: 'failure' },
      says: /Operation failed: Data policy: Category is mandatory/,
    },
    namesAssignee: true,
  },
  {
    ...common,
    type: 'webhook',
    config: { labels: ['security', 'gh-{{severity}}'] },
    secret: hookSecret,
    api: webhookApi,
    isAdmitted: isSigned,
    key: ({ number }) => `HOOK-${number}`,
    text: ({ raw }) => raw['body'] as string,
    title: ({ raw }) => raw['title'] as string,
    reads: false,
    isCreate: ({ body }) => body['type'] === 'ticket.create',
    refusal: { status: 422, json: { error: 'no such board' }, says: /no such board/ },
  },
];

/** The text of the comments of a ticket, as they came. */
export const commentsOf = (issue: FakeIssue): string[] => issue.comments.map(({ text }) => text);
export type { Fake };
