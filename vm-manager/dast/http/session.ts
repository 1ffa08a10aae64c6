// How a scan is logged in: a recipe of the target, its cookies, and whether it still holds. A scan that finds itself
// logged out logs in again, a few times, and never again by the request that did it.
import { readPage } from '../crawl/html.js';
import type { Exchange, ScanRequest } from '../model.js';
import { ScanOver } from '../model.js';
import type { PoliteClient } from './polite-client.js';

export const sessionTypes = ['form', 'bearer', 'header', 'cookie'] as const;
export type SessionType = (typeof sessionTypes)[number];

export interface SessionRecipe {
  readonly type: SessionType;
  /** form: page with the form, and the names of its fields. */
  readonly loginUrl?: string;
  readonly userField?: string;
  readonly passwordField?: string;
  readonly user?: string;
  /** header, cookie: its name. */
  readonly name?: string;
  /** Password, token or value. */
  readonly secret: string;
  /** A page that only a user who is logged in sees, and a text on it. */
  readonly checkUrl: string;
  readonly checkText: string;
}

const loginsMax = 6;

/** Names and values of Set-Cookie lines; null: the cookie is taken away. */
export function readCookie(line: string): { readonly name: string; readonly value: string | null } | null {
  const [pair = '', ...attributes] = line.split(';');
  const at = pair.indexOf('=');
  if (at < 1) return null;
  const value = pair.slice(at + 1).trim();
  const isOver = attributes.some((one) => {
    const [name = '', text = ''] = one.split('=', 2).map((part) => part.trim());
    if (/^max-age$/i.test(name)) return Number(text) <= 0;
    return /^expires$/i.test(name) && Date.parse(one.slice(one.indexOf('=') + 1)) < 86_400_000;
  });
  return { name: pair.slice(0, at).trim(), value: isOver || value === '' ? null : value };
}

export class Session {
  logins = 0;
  readonly recipe: SessionRecipe | null;
  readonly #cookies = new Map<string, string>();

  constructor(recipe: SessionRecipe | null) {
    this.recipe = recipe;
  }

  get cookieNames(): string[] {
    return [...this.#cookies.keys()];
  }

  cookie(name: string): string | null {
    return this.#cookies.get(name) ?? null;
  }

  headers(): Record<string, string> {
    const { recipe } = this;
    const cookies = [...this.#cookies].map(([name, value]) => `${name}=${value}`);
    if (recipe?.type === 'cookie' && recipe.name !== undefined) cookies.push(`${recipe.name}=${recipe.secret}`);
    return {
      ...(cookies.length === 0 ? {} : { cookie: cookies.join('; ') }),
      ...(recipe?.type === 'bearer' ? { authorization: `Bearer ${recipe.secret}` } : {}),
      ...(recipe?.type === 'header' && recipe.name !== undefined ? { [recipe.name]: recipe.secret } : {}),
    };
  }

  /** Returns whether the answer took a cookie away that the scan had. */
  take({ cookies }: Exchange): boolean {
    let lost = false;
    for (const line of cookies) {
      const read = readCookie(line);
      if (read === null) continue;
      if (read.value !== null) this.#cookies.set(read.name, read.value);
      else if (this.#cookies.delete(read.name)) lost = true;
    }
    return lost;
  }

  /** Throws ScanOver where the target does not let it in. */
  async logIn(client: PoliteClient): Promise<void> {
    const { recipe } = this;
    if (recipe === null) return;
    if (++this.logins > loginsMax)
      throw new ScanOver('unreachable', `The session was lost ${loginsMax} times: see which page ends it, exclude it.`);
    this.#cookies.clear();
    if (recipe.type === 'form') await this.#sendForm(client, recipe);
    if (await this.holds(client)) return;
    throw new ScanOver(
      'unreachable',
      `The login did not work: ${recipe.checkUrl} does not show "${recipe.checkText}". Check its recipe.`,
    );
  }

  async #sendForm(client: PoliteClient, recipe: SessionRecipe): Promise<void> {
    const { loginUrl = '', userField = 'username', passwordField = 'password', user = '', secret } = recipe;
    const page = await client.send({ method: 'GET', url: loginUrl, headers: {}, body: null });
    if (page === null) throw new ScanOver('unreachable', `The login page ${loginUrl} does not answer.`);
    this.take(page);
    const form = readPage(page.body, loginUrl).forms.find(({ fields }) =>
      fields.some(({ name }) => name === passwordField),
    );
    if (form === undefined)
      throw new ScanOver('unreachable', `The page ${loginUrl} has no form with the field ${passwordField}.`);
    const values = new URLSearchParams(Object.fromEntries(form.fields.map(({ name, value }) => [name, value])));
    values.set(userField, user);
    values.set(passwordField, secret);
    const request: ScanRequest = {
      method: form.method,
      url: form.method === 'GET' ? `${form.action.split('?', 1)[0]}?${values.toString()}` : form.action,
      headers: { ...this.headers(), 'content-type': 'application/x-www-form-urlencoded' },
      body: form.method === 'GET' ? null : values.toString(),
    };
    const answer = await client.send(request);
    if (answer !== null) this.take(answer);
  }

  async holds(client: PoliteClient): Promise<boolean> {
    const { recipe } = this;
    if (recipe === null) return true;
    const seen = await client.send({ method: 'GET', url: recipe.checkUrl, headers: this.headers(), body: null });
    if (seen === null) return false;
    this.take(seen);
    return seen.status < 300 && seen.body.includes(recipe.checkText);
  }
}
