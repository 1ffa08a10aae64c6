// Issues of GitHub and GitHub Enterprise (REST API, 2022-11-28), a token. Their search is a copy that lags, so that the
// marker is looked for in the list of issues since the ticket was asked for.
import { Type } from '@sinclair/typebox';
import { at, list, str } from '../../imports/normalize.js';
import { unfit } from '../../kit/endpoint.js';
import { need, TrackerError, type Asker } from './ask.js';
import type { CommonConfig, Connection, Draft, Remote, RemoteState, Tracker } from './tracker.js';

interface GitHubConfig extends CommonConfig {
  readonly repository: string;
}

const perPage = 100;
const pagesMax = 5;
/** By which their clock may be behind ours. */
const skewMs = 600_000;

const isPull = (issue: unknown): boolean => at(issue, 'pull_request') !== undefined;

class GitHub implements Connection {
  private readonly config: GitHubConfig;
  private readonly asker: Asker;
  constructor(config: GitHubConfig, asker: Asker) {
    [this.config, this.asker] = [config, asker];
  }

  private get path(): string {
    return `/repos/${this.config.repository}`;
  }

  private remote(issue: unknown): Remote {
    const number = need(at(issue, 'number'), 'number of the issue');
    return { id: number, key: `#${number}`, url: str(at(issue, 'html_url')) };
  }

  async test(): Promise<string> {
    const found = await this.asker.ask('GET', this.path);
    const name = need(at(found, 'full_name'), 'name of the repository');
    if (at(found, 'has_issues') === false)
      throw new TrackerError('setup', `${name} has no issues: switch them on in its settings.`);
    if (at(found, 'archived') === true)
      throw new TrackerError('setup', `${name} is archived: nothing is written there.`);
    return `${name} takes issues.`;
  }

  async find(marker: string, since: Date): Promise<Remote | null> {
    const from = new Date(since.getTime() - skewMs).toISOString();
    const query = { state: 'all', since: from, sort: 'created', direction: 'desc', per_page: String(perPage) };
    for (let page = 1; page <= pagesMax; page++) {
      const issues = list(
        await this.asker.ask('GET', `${this.path}/issues`, { query: { ...query, page: String(page) } }),
      );
      const found = issues.find((one) => !isPull(one) && str(at(one, 'body')).includes(marker));
      if (found !== undefined) return this.remote(found);
      const oldest = str(at(issues.at(-1), 'created_at'));
      if (issues.length < perPage || oldest < from) return null;
    }
    throw new TrackerError('later', `More than ${pagesMax * perPage} issues were made since this one was asked for.`);
  }

  async create({ title, body, labels, priority }: Draft): Promise<Remote> {
    const all = priority === null ? labels : [...labels, priority];
    return this.remote(await this.asker.ask('POST', `${this.path}/issues`, { body: { title, body, labels: all } }));
  }

  async read(id: string): Promise<RemoteState> {
    const number = id.replace(/^#/, '');
    if (!/^\d{1,12}$/.test(number)) throw new TrackerError('refused', `${id.slice(0, 40)} is no number of an issue.`);
    const issue = await this.asker.ask('GET', `${this.path}/issues/${number}`);
    if (isPull(issue)) throw new TrackerError('refused', `#${number} is a pull request, and no issue.`);
    const state = need(at(issue, 'state'), 'state of the issue');
    const reason = str(at(issue, 'state_reason'));
    return {
      ...this.remote(issue),
      isOpen: state === 'open',
      state: state === 'closed' && reason !== '' ? `${state} (${reason.replaceAll('_', ' ')})` : state,
      // they say who it is, and not by which address
      assigneeEmail: null,
      comments: await this.comments(number, Number(at(issue, 'comments') ?? 0)),
    };
  }

  private async comments(number: string, count: number): Promise<RemoteState['comments']> {
    if (!(count > 0)) return [];
    const query = { per_page: String(perPage), page: String(Math.ceil(count / perPage)) };
    return list(await this.asker.ask('GET', `${this.path}/issues/${number}/comments`, { query })).map((one) => ({
      id: need(at(one, 'id'), 'id of a comment'),
      author: str(at(one, 'user', 'login')),
      text: str(at(one, 'body')),
    }));
  }

  async comment({ id }: Remote, text: string): Promise<void> {
    await this.asker.ask('POST', `${this.path}/issues/${id}/comments`, { body: { body: text } });
  }

  async move({ id }: Remote, to: 'open' | 'closed'): Promise<void> {
    const body = to === 'closed' ? { state: to, state_reason: 'completed' } : { state: to };
    await this.asker.ask('PATCH', `${this.path}/issues/${id}`, { body });
  }
}

export const github: Tracker = {
  title: 'GitHub issues',
  secret: 'fine-grained or classic personal access token',
  config: Type.Object({
    repository: Type.String({
      title: 'Repository',
      maxLength: 140,
      pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$',
      description: 'owner/name',
    }),
  }),
  reads: true,
  titleMax: 250,
  bodyMax: 60_000,
  format: () => 'markdown',
  check({ fields, take_assignee: takes }) {
    if (fields !== undefined) throw unfit('/config/fields', 'are not known to issues of GitHub', 'use labels');
    if (takes === true)
      throw unfit('/config/take_assignee', 'cannot be had: GitHub does not say the e-mail address', 'leave it off');
  },
  connect: (config, secret, asker) =>
    new GitHub(
      config as GitHubConfig,
      asker.with({
        accept: 'application/vnd.github+json',
        'x-github-api-version': '2022-11-28',
        authorization: `Bearer ${secret}`,
      }),
    ),
};
