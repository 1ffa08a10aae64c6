// What crawler and checks talk through: the polite client with the session on it, values put into forms, tokens of
// forms fetched anew, and a session that was lost taken up again.
import { readPage } from '../crawl/html.js';
import { NotAllowed, type Exchange, type Form, type Param, type ScanRequest } from '../model.js';
import { addressOf, requestOf, type Values } from './forms.js';
import { isBusy, type PoliteClient } from './polite-client.js';
import type { Session } from './session.js';

export interface SendOptions {
  readonly headers?: Values;
  /** Without the session. */
  readonly isAnonymous?: boolean;
  readonly timeoutMs?: number;
}

/** What all checks of a scan share. */
interface Shared {
  /** Requests that took the session away, as `METHOD url`: never sent again. */
  readonly endsSession: Set<string>;
  readonly baselines: Map<string, Promise<Exchange | null>>;
  login: Promise<void> | null;
}

export class Talk {
  readonly client: PoliteClient;
  readonly session: Session;
  /** Requests of this check that were not sent, or whose answer says nothing about the application. */
  unanswered = 0;
  readonly #shared: Shared;

  constructor(client: PoliteClient, session: Session, shared?: Shared) {
    [this.client, this.session] = [client, session];
    this.#shared = shared ?? { endsSession: new Set(), baselines: new Map(), login: null };
  }

  /** The same session, with a count of its own of what was not answered. */
  forCheck(): Talk {
    return new Talk(this.client, this.session, this.#shared);
  }

  /** null: no answer, or it may not be sent. Throws ScanOver. */
  async ask(request: ScanRequest, options: SendOptions = {}): Promise<Exchange | null> {
    const exchange = await this.#ask(request, options);
    if (exchange === null || isBusy(exchange.status)) this.unanswered++;
    return exchange;
  }

  async #ask(request: ScanRequest, { isAnonymous = false, headers = {}, timeoutMs }: SendOptions) {
    const shared = this.#shared;
    const name = `${request.method} ${request.url.split('?', 1)[0]}`;
    if (shared.endsSession.has(name)) return null;
    await shared.login;
    const own = isAnonymous ? {} : this.session.headers();
    let exchange: Exchange | null;
    try {
      const all = { ...own, ...request.headers, ...headers };
      exchange = await this.client.send({ ...request, headers: all }, timeoutMs);
    } catch (error) {
      if (error instanceof NotAllowed) return null;
      throw error;
    }
    if (exchange === null || isAnonymous) return exchange;
    if (this.session.take(exchange) && this.session.recipe !== null) {
      shared.endsSession.add(name);
      shared.login ??= this.session.logIn(this.client).finally(() => (shared.login = null));
      await shared.login;
      return null;
    }
    return exchange;
  }

  async get(url: string, options: SendOptions = {}): Promise<Exchange | null> {
    return this.ask({ method: 'GET', url, headers: {}, body: null }, options);
  }

  async send(form: Form, values: Values = {}, options: SendOptions = {}): Promise<Exchange | null> {
    const tokens = form.params.filter(({ isToken }) => isToken === true);
    const fresh = tokens.length === 0 || form.page === null ? {} : await this.#tokens(form, form.page, tokens);
    return this.ask(requestOf(form, { ...fresh, ...values }), options);
  }

  /** The form's own answer, asked once. */
  async baseline(form: Form): Promise<Exchange | null> {
    const key = `${form.key} ${addressOf(form)}`;
    const { baselines } = this.#shared;
    let known = baselines.get(key);
    if (known === undefined) {
      known = this.send(form);
      baselines.set(key, known);
    }
    return known;
  }

  async #tokens(form: Form, page: string, tokens: readonly Param[]): Promise<Values> {
    const seen = await this.get(page);
    if (seen === null) return {};
    const same = readPage(seen.body, page).forms.find(
      ({ action, method }) => method === form.method && action.split('?', 1)[0] === form.url,
    );
    const values = new Map(same?.fields.map(({ name, value }) => [name, value]));
    return Object.fromEntries(tokens.flatMap(({ name }) => (values.has(name) ? [[name, values.get(name) ?? '']] : [])));
  }
}
