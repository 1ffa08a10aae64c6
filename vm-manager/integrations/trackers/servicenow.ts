// Records of ServiceNow (Table API), as a rule incidents. The marker is the correlation id, which a query finds.
import { Type } from '@sinclair/typebox';
import { at, list, str } from '../../imports/normalize.js';
import { unfit } from '../../kit/endpoint.js';
import { need, TrackerError, type Asker } from './ask.js';
import type { CommonConfig, Connection, Draft, Remote, RemoteState, Tracker } from './tracker.js';

interface ServiceNowConfig extends CommonConfig {
  readonly table?: string;
  readonly user?: string;
  readonly closed_states?: readonly string[];
  readonly close_state?: string;
  readonly open_state?: string;
  readonly close_code?: string;
}

/** Of incidents as they are delivered: resolved, closed, cancelled. */
const closedStates = ['6', '7', '8'];
const wanted = 'sys_id,number,state,assigned_to.email';

class ServiceNow implements Connection {
  private readonly config: ServiceNowConfig;
  private readonly asker: Asker;
  constructor(config: ServiceNowConfig, asker: Asker) {
    [this.config, this.asker] = [config, asker];
  }

  private get table(): string {
    return this.config.table ?? 'incident';
  }
  private get path(): string {
    return `/api/now/table/${this.table}`;
  }

  private remote(record: unknown): Remote {
    const id = need(at(record, 'sys_id'), 'sys_id of the record');
    const uri = encodeURIComponent(`${this.table}.do?sys_id=${id}`);
    return {
      id,
      key: need(at(record, 'number'), 'number of the record'),
      url: `${this.config.url.replace(/\/+$/, '')}/nav_to.do?uri=${uri}`,
    };
  }

  private async first(query: string): Promise<unknown> {
    const asked = { sysparm_query: query, sysparm_fields: wanted, sysparm_limit: '1' };
    return list(at(await this.asker.ask('GET', this.path, { query: asked }), 'result'))[0];
  }

  async test(): Promise<string> {
    const query = { sysparm_fields: 'sys_id', sysparm_limit: '1' };
    const answer = await this.asker.ask('GET', this.path, { query });
    if (!Array.isArray(at(answer, 'result'))) throw new TrackerError('later', 'The answer has no result.');
    return `The table ${this.table} can be read.`;
  }

  async find(marker: string): Promise<Remote | null> {
    const found = await this.first(`correlation_id=${marker}`);
    return found === undefined ? null : this.remote(found);
  }

  async create({ marker, title, body, priority, fields }: Draft): Promise<Remote> {
    const record = {
      ...(priority === null ? {} : { urgency: priority, impact: priority }),
      ...fields,
      short_description: title,
      description: body,
      correlation_id: marker,
      correlation_display: 'Finding',
    };
    return this.remote(at(await this.asker.ask('POST', this.path, { body: record }), 'result'));
  }

  async read(id: string): Promise<RemoteState> {
    if (!/^[A-Za-z0-9]{1,40}$/.test(id))
      throw new TrackerError('refused', `${id.slice(0, 40)} is no number of a record.`);
    const query = { sysparm_fields: wanted };
    const record = /^[0-9a-f]{32}$/.test(id)
      ? at(await this.asker.ask('GET', `${this.path}/${id}`, { query }), 'result')
      : await this.first(`number=${id}`);
    if (record === undefined) throw new TrackerError('missing', `There is no ${id} in ${this.table}.`);
    const remote = this.remote(record);
    const state = need(at(record, 'state'), 'state of the record');
    return {
      ...remote,
      isOpen: !(this.config.closed_states ?? closedStates).includes(state),
      state,
      assigneeEmail: str(at(record, 'assigned_to.email')) || null,
      comments: await this.comments(remote.id),
    };
  }

  private async comments(id: string): Promise<RemoteState['comments']> {
    const query = {
      sysparm_query: `element_id=${id}^element=comments^ORDERBYDESCsys_created_on`,
      sysparm_fields: 'sys_id,value,sys_created_by',
      sysparm_limit: '100',
    };
    const rows = list(at(await this.asker.ask('GET', '/api/now/table/sys_journal_field', { query }), 'result'));
    return rows
      .map((one) => ({
        id: need(at(one, 'sys_id'), 'sys_id of a comment'),
        author: str(at(one, 'sys_created_by')),
        text: str(at(one, 'value')),
      }))
      .reverse();
  }

  async comment({ id }: Remote, text: string): Promise<void> {
    await this.asker.ask('PATCH', `${this.path}/${id}`, { body: { comments: text } });
  }

  async move({ id }: Remote, to: 'open' | 'closed'): Promise<void> {
    const { close_state: closed = '6', open_state: open = '2', close_code: code = 'Solution provided' } = this.config;
    const body =
      to === 'closed'
        ? { state: closed, close_code: code, close_notes: 'The finding is closed where it was found.' }
        : { state: open };
    await this.asker.ask('PATCH', `${this.path}/${id}`, { body });
  }
}

const State = Type.String({ pattern: '^-?\\d{1,4}$' });

export const servicenow: Tracker = {
  title: 'ServiceNow',
  secret: 'password of the account, or an OAuth access token where no user is named',
  config: Type.Object({
    table: Type.Optional(
      Type.String({ title: 'Table', pattern: '^[a-z][a-z0-9_]{0,79}$', description: 'incident unless it is said' }),
    ),
    user: Type.Optional(
      Type.String({ title: 'User', maxLength: 100, pattern: '^[^\\s:]+$', description: 'none: the secret is a token' }),
    ),
    closed_states: Type.Optional(
      Type.Array(State, { title: 'States that are closed', maxItems: 20, description: '6, 7 and 8 unless it is said' }),
    ),
    close_state: Type.Optional({ ...State, title: 'State to close with', description: '6 unless it is said' }),
    open_state: Type.Optional({ ...State, title: 'State to open with', description: '2 unless it is said' }),
    close_code: Type.Optional(
      Type.String({ title: 'Close code', maxLength: 100, description: 'Solution provided unless it is said' }),
    ),
  }),
  reads: true,
  titleMax: 155,
  bodyMax: 3900,
  format: () => 'plain',
  check({ labels, priorities = {} }) {
    if (labels !== undefined && labels.length > 0)
      throw unfit('/config/labels', 'are not known to ServiceNow', 'use fields');
    for (const [severity, level] of Object.entries(priorities))
      if (!/^[1-3]$/.test(level))
        throw unfit(`/config/priorities/${severity}`, 'is no urgency of ServiceNow', 'write 1 (high), 2 or 3 (low)');
  },
  connect(config, secret, asker) {
    const given = config as ServiceNowConfig;
    if (given.user === undefined) return new ServiceNow(given, asker.with({ authorization: `Bearer ${secret}` }));
    const basic = Buffer.from(`${given.user}:${secret}`).toString('base64');
    return new ServiceNow(given, asker.with({ authorization: `Basic ${basic}` }, basic));
  },
};
