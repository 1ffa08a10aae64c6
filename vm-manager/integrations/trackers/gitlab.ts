// Issues of GitLab (REST API 4), a token. The marker is searched for in descriptions.
import { Type } from '@sinclair/typebox';
import { at, list, str } from '../../imports/normalize.js';
import { unfit } from '../../kit/endpoint.js';
import { need, TrackerError, type Asker } from './ask.js';
import { refuseCommaLabels } from './labels.js';
import type { CommonConfig, Connection, Draft, Remote, RemoteState, Tracker } from './tracker.js';

interface GitLabConfig extends CommonConfig {
  readonly project: string;
  readonly confidential?: boolean;
}

class GitLab implements Connection {
  private readonly config: GitLabConfig;
  private readonly asker: Asker;
  constructor(config: GitLabConfig, asker: Asker) {
    [this.config, this.asker] = [config, asker];
  }

  private get path(): string {
    return `/api/v4/projects/${encodeURIComponent(this.config.project)}`;
  }

  /** Within its project an issue is named by its iid. */
  private remote(issue: unknown): Remote {
    const iid = need(at(issue, 'iid'), 'iid of the issue');
    return { id: iid, key: `#${iid}`, url: str(at(issue, 'web_url')) };
  }

  async test(): Promise<string> {
    const found = await this.asker.ask('GET', this.path);
    const name = need(at(found, 'path_with_namespace'), 'path of the project');
    if (at(found, 'issues_access_level') === 'disabled' || at(found, 'issues_enabled') === false)
      throw new TrackerError('setup', `${name} has no issues: switch them on in its settings.`);
    if (at(found, 'archived') === true)
      throw new TrackerError('setup', `${name} is archived: nothing is written there.`);
    return `${name} takes issues.`;
  }

  async find(marker: string): Promise<Remote | null> {
    const query = { search: marker, in: 'description', scope: 'all', per_page: '20' };
    const found = list(await this.asker.ask('GET', `${this.path}/issues`, { query }));
    const own = found.find((one) => str(at(one, 'description')).includes(marker));
    return own === undefined ? null : this.remote(own);
  }

  async create({ title, body, labels, priority }: Draft): Promise<Remote> {
    const all = priority === null ? labels : [...labels, priority];
    const issue = {
      title,
      description: body,
      labels: all.join(','),
      confidential: this.config.confidential ?? true,
    };
    return this.remote(await this.asker.ask('POST', `${this.path}/issues`, { body: issue }));
  }

  async read(id: string): Promise<RemoteState> {
    const iid = id.replace(/^#/, '');
    if (!/^\d{1,12}$/.test(iid)) throw new TrackerError('refused', `${id.slice(0, 40)} is no number of an issue.`);
    const issue = await this.asker.ask('GET', `${this.path}/issues/${iid}`);
    const state = need(at(issue, 'state'), 'state of the issue');
    const query = { sort: 'desc', order_by: 'created_at', per_page: '100' };
    const notes = Number(at(issue, 'user_notes_count') ?? 0) > 0;
    const comments = notes ? list(await this.asker.ask('GET', `${this.path}/issues/${iid}/notes`, { query })) : [];
    return {
      ...this.remote(issue),
      isOpen: state === 'opened',
      state,
      // they say who it is, and not by which address
      assigneeEmail: null,
      comments: comments
        .filter((one) => at(one, 'system') !== true && at(one, 'internal') !== true)
        .map((one) => ({
          id: need(at(one, 'id'), 'id of a note'),
          author: str(at(one, 'author', 'name')),
          text: str(at(one, 'body')),
        }))
        .reverse(),
    };
  }

  async comment({ id }: Remote, text: string): Promise<void> {
    await this.asker.ask('POST', `${this.path}/issues/${id}/notes`, { body: { body: text } });
  }

  async move({ id }: Remote, to: 'open' | 'closed'): Promise<void> {
    const body = { state_event: to === 'closed' ? 'close' : 'reopen' };
    await this.asker.ask('PUT', `${this.path}/issues/${id}`, { body });
  }
}

export const gitlab: Tracker = {
  title: 'GitLab issues',
  secret: 'project, group or personal access token with the scope api',
  config: Type.Object({
    project: Type.String({
      title: 'Project',
      maxLength: 300,
      pattern: '^(?:\\d{1,18}|[\\w.-]+(?:/[\\w.-]+)+)$',
      description: 'group/name, or its number',
    }),
    confidential: Type.Optional(
      Type.Boolean({ title: 'Confidential issues', description: 'only members see them; on unless it is said' }),
    ),
  }),
  reads: true,
  titleMax: 250,
  bodyMax: 200_000,
  format: () => 'markdown',
  check(config) {
    refuseCommaLabels(config);
    if (config.fields !== undefined) throw unfit('/config/fields', 'are not known to issues of GitLab', 'use labels');
    if (config.take_assignee === true)
      throw unfit('/config/take_assignee', 'cannot be had: GitLab does not say the e-mail address', 'leave it off');
  },
  connect: (config, secret, asker) => new GitLab(config as GitLabConfig, asker.with({ 'private-token': secret })),
};
