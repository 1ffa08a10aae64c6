// Jira. Cloud: REST API 3, texts are documents (ADF), an e-mail address with an API token. Data Center: REST API 2,
// texts are wiki markup, a personal access token. The marker is a label, which JQL finds.
import { Type } from '@sinclair/typebox';
import { at, list, str } from '../../imports/normalize.js';
import { fromAdf, toAdf } from '../escape.js';
import { need, TrackerError, type Asker } from './ask.js';
import type { CommonConfig, Connection, Draft, Remote, RemoteState, Tracker } from './tracker.js';
import { refuseSpacedLabels } from './labels.js';

interface JiraConfig extends CommonConfig {
  readonly project: string;
  readonly issue_type: string;
  readonly email?: string;
  readonly close_transition?: string;
}

interface Edition {
  readonly api: string;
  readonly search: string;
  readonly toText: (text: string) => unknown;
}
const cloud: Edition = { api: '/rest/api/3', search: '/rest/api/3/search/jql', toText: toAdf };
const center: Edition = { api: '/rest/api/2', search: '/rest/api/2/search', toText: (text) => text };

const isDone = (status: unknown): boolean => at(status, 'statusCategory', 'key') === 'done';
const commentsMax = 100;

class Jira implements Connection {
  private readonly config: JiraConfig;
  private readonly asker: Asker;
  private readonly edition: Edition;
  constructor(config: JiraConfig, asker: Asker, edition: Edition) {
    [this.config, this.asker, this.edition] = [config, asker, edition];
  }

  private remote(id: string, key: string): Remote {
    return { id, key, url: `${this.config.url.replace(/\/+$/, '')}/browse/${encodeURIComponent(key)}` };
  }

  async test(): Promise<string> {
    const { project, issue_type: wanted } = this.config;
    const me = await this.asker.ask('GET', `${this.edition.api}/myself`);
    const found = await this.asker.ask('GET', `${this.edition.api}/project/${encodeURIComponent(project)}`);
    const types = list(at(found, 'issueTypes')).map((one) => str(at(one, 'name')));
    if (!types.includes(wanted))
      throw new TrackerError(
        'setup',
        `The project ${project} has no issue type ${wanted}: it has ${types.join(', ')}.`,
      );
    return `Logged in as ${str(at(me, 'displayName'))}; the project ${str(at(found, 'name'))} takes ${wanted}.`;
  }

  async find(marker: string): Promise<Remote | null> {
    const query = { jql: `labels = "${marker}" ORDER BY created ASC`, fields: 'summary', maxResults: '1' };
    const [first] = list(at(await this.asker.ask('GET', this.edition.search, { query }), 'issues'));
    if (first === undefined) return null;
    return this.remote(need(at(first, 'id'), 'id of an issue'), need(at(first, 'key'), 'key of an issue'));
  }

  async create({ marker, title, body, labels, priority, fields }: Draft): Promise<Remote> {
    const { project, issue_type: name } = this.config;
    const made = await this.asker.ask('POST', `${this.edition.api}/issue`, {
      body: {
        fields: {
          ...fields,
          project: { key: project },
          issuetype: { name },
          summary: title,
          description: this.edition.toText(body),
          labels: [...labels, marker],
          ...(priority === null ? {} : { priority: { name: priority } }),
        },
      },
    });
    return this.remote(need(at(made, 'id'), 'id of the issue'), need(at(made, 'key'), 'key of the issue'));
  }

  async read(id: string): Promise<RemoteState> {
    const query = { fields: 'status,assignee,comment' };
    const issue = await this.asker.ask('GET', `${this.edition.api}/issue/${encodeURIComponent(id)}`, { query });
    const status = at(issue, 'fields', 'status');
    const comments = list(at(issue, 'fields', 'comment', 'comments')).slice(-commentsMax);
    return {
      ...this.remote(need(at(issue, 'id'), 'id of the issue'), need(at(issue, 'key'), 'key of the issue')),
      isOpen: !isDone(status),
      state: need(at(status, 'name'), 'state of the issue'),
      assigneeEmail: str(at(issue, 'fields', 'assignee', 'emailAddress')) || null,
      comments: comments.map((one) => ({
        id: need(at(one, 'id'), 'id of a comment'),
        author: str(at(one, 'author', 'displayName')),
        text: fromAdf(at(one, 'body')),
      })),
    };
  }

  async comment({ id }: Remote, text: string): Promise<void> {
    await this.asker.ask('POST', `${this.edition.api}/issue/${id}/comment`, {
      body: { body: this.edition.toText(text) },
    });
  }

  async move({ id, key }: Remote, to: 'open' | 'closed'): Promise<void> {
    const path = `${this.edition.api}/issue/${id}/transitions`;
    const offered = list(at(await this.asker.ask('GET', path), 'transitions'));
    const fit = offered.filter((one) => isDone(at(one, 'to')) === (to === 'closed'));
    const named = fit.find((one) => to === 'closed' && at(one, 'name') === this.config.close_transition);
    const chosen = named ?? fit[0];
    if (chosen === undefined)
      throw new TrackerError(
        'refused',
        `${key} offers the account no transition that ${to === 'closed' ? 'closes' : 'opens'} it, but ` +
          `${offered.map((one) => str(at(one, 'name'))).join(', ') || 'none'}: change its workflow or its rights.`,
      );
    await this.asker.ask('POST', path, { body: { transition: { id: need(at(chosen, 'id'), 'id of a transition') } } });
  }
}

const members = {
  project: Type.String({
    title: 'Key of the project',
    pattern: '^[A-Z][A-Z0-9_]{0,49}$',
    description: 'such as SEC',
  }),
  issue_type: Type.String({ title: 'Issue type', minLength: 1, maxLength: 100, description: 'such as Bug' }),
  close_transition: Type.Optional(
    Type.String({
      title: 'Transition that closes',
      maxLength: 100,
      description: 'its name; empty: the first one that leads to a state of the category Done',
    }),
  ),
};

const limits = { titleMax: 250, bodyMax: 30_000, reads: true } as const;

export const jiraCloud: Tracker = {
  title: 'Jira Cloud',
  secret: 'API token of the account',
  config: Type.Object({
    ...members,
    email: Type.String({ title: 'E-mail address of the account', maxLength: 254, pattern: '^[^\\s:@]+@[^\\s:@]+$' }),
  }),
  ...limits,
  format: () => 'adf',
  check: refuseSpacedLabels,
  connect(config, secret, asker) {
    const given = config as JiraConfig;
    const basic = Buffer.from(`${given.email ?? ''}:${secret}`).toString('base64');
    return new Jira(given, asker.with({ authorization: `Basic ${basic}` }, basic), cloud);
  },
};

export const jiraDataCenter: Tracker = {
  title: 'Jira Data Center',
  secret: 'personal access token of the account',
  config: Type.Object(members),
  ...limits,
  format: () => 'wiki',
  check: refuseSpacedLabels,
  connect: (config, secret, asker) =>
    new Jira(config as JiraConfig, asker.with({ authorization: `Bearer ${secret}` }), center),
};
