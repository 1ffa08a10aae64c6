// One business of a shape: what its people do all day, and requests that a thief makes between them. Deterministic.
import { person, randomOf, Shop, type Person } from '../shop.js';
import type { Shape } from './shapes.js';

export interface Thing {
  readonly id: string | number;
  readonly holders: readonly Person[];
  /** Sent to others as a link; those who may follow it. */
  readonly link: string | null;
  readonly guests: readonly Person[];
}

const peopleCount = 60;
const staffFrom = 900;
export const thiefFrom = 5000;

export class Market {
  readonly shop = new Shop();
  readonly random: () => number;
  readonly people: readonly Person[];
  readonly staff: readonly Person[];
  readonly things: Thing[] = [];
  private readonly thingsOf = new Map<number, Thing[]>();
  /** By person: what it made, or what a list has shown to it. */
  private readonly seenBy = new Map<number, Set<string | number>>();

  constructor(
    readonly shape: Shape,
    seed: number,
  ) {
    this.random = randomOf(seed);
    this.people = Array.from({ length: peopleCount }, (_, at) => this.make(1 + at));
    this.staff = Array.from({ length: 3 }, (_, at) => this.make(staffFrom + at, true));
    // 50,000 requests are a day
    this.shop.stepMs = 1700;
  }

  make(number: number, isStaff = false): Person {
    const { style, hasRoles = false } = this.shape;
    return person(number, style, hasRoles ? { role: isStaff ? 'staff' : 'member' } : {});
  }

  pick(count: number): number {
    return Math.floor(this.random() * count);
  }

  any<T>(of: readonly T[]): T {
    return of[this.pick(of.length)] as T;
  }

  /** The person where it is at this hour. */
  private at(who: Person): Person {
    if (this.shape.roams !== true) return who;
    const hour = Math.floor(this.shop.requests / 2500);
    const place = (who.number * 31 + hour * 7) % 60_000;
    return { ...who, ip: `100.${64 + (place >> 16)}.${(place >> 8) & 255}.${place & 255}` };
  }

  pathOf(id: string | number, part?: string): string {
    const path = this.shape.one.replace('{id}', String(id));
    return part === undefined ? path : `${path}/${part}`;
  }

  listPath(who: Person): string {
    const { list, isListedByPerson = false } = this.shape;
    return isListedByPerson ? `${list.slice(0, list.lastIndexOf('/'))}/patients/${who.number}/appointments` : list;
  }

  ownOf(who: Person): readonly Thing[] {
    return this.thingsOf.get(who.number) ?? [];
  }

  private view(id: string | number): object {
    return { [this.shape.idName]: id, state: 'open' };
  }

  /** A thing that is new; `owner` is one of its holders. */
  create(owner: Person): Thing {
    const { id: idOf, holders: count, isMadeByStaff = false, linkShare = 0, linkPath, list } = this.shape;
    const id = idOf(this.things.length, this.random);
    const team = Math.floor((owner.number - 1) / count) * count;
    const holders = [owner];
    for (let at = 0; at < count; at += 1) {
      const other = this.people[team + at];
      if (other !== undefined && other.number !== owner.number && owner.number <= peopleCount) holders.push(other);
    }
    const isLinked = this.random() < linkShare;
    const token = `${Math.floor(this.random() * 1e9).toString(36)}Zq${this.things.length}x${this.pick(9000)}Yb7K9`;
    const link = isLinked ? (linkPath?.replace('{token}', token) ?? this.pathOf(id)) : null;
    const guests = isLinked ? Array.from({ length: 4 + this.pick(9) }, () => this.any(this.people)) : [];
    const thing = { id, holders, link, guests };
    this.things.push(thing);
    for (const one of holders) this.thingsOf.set(one.number, [...this.ownOf(one), thing]);
    if (!isMadeByStaff) this.see(owner, id);
    const maker = isMadeByStaff ? this.any(this.staff) : this.at(owner);
    this.shop.ask(maker, {
      ...{ method: 'POST', uri: list, status: 201, body: { for: 'x' }, reply: this.view(id) },
      replyHeaders: ['Location', this.pathOf(id)],
    });
    if (isLinked)
      this.shop.ask(this.at(owner), { method: 'POST', uri: this.pathOf(id, 'share'), reply: { url: link ?? '' } });
    return thing;
  }

  private list(who: Person): void {
    const { wrap, bigShare = 0 } = this.shape;
    const own = this.ownOf(who);
    const from = Math.max(0, own.length - 20 - this.pick(3) * 20);
    const shown = own.slice(from, from + 20);
    const isBig = this.random() < bigShare;
    this.shop.ask(this.at(who), { uri: this.listPath(who), reply: wrap(shown.map(({ id }) => this.view(id))), isBig });
    for (const { id } of shown) this.see(who, id);
    for (const { id } of shown.slice(0, this.pick(4))) this.read(who, id);
  }

  read(who: Person, id: string | number): void {
    const part = this.any([undefined, undefined, ...Object.keys(this.shape.parts)]);
    const reply = part === undefined ? this.view(id) : this.shape.parts[part]?.(id);
    this.shop.ask(this.at(who), { uri: this.pathOf(id, part), reply });
  }

  private write(who: Person): void {
    const own = [...(this.seenBy.get(who.number) ?? [])];
    if (own.length === 0) return;
    const id = this.any(own);
    const status = this.shape.isSilent === true ? 204 : 200;
    this.shop.ask(this.at(who), { method: 'PUT', uri: this.pathOf(id), status, body: { a: 1 }, reply: this.view(id) });
  }

  private follow(): void {
    const linked = this.things.filter(({ link }) => link !== null);
    if (linked.length === 0) return;
    const { link, guests } = this.any(linked.slice(-12));
    const guest = this.any(guests);
    this.shop.ask(this.random() < 0.3 ? null : this.at(guest), { uri: link ?? '/', reply: { state: 'open' } });
  }

  private serve(): void {
    const one = this.any(this.staff);
    const [method, path] = this.any(this.shape.functions);
    this.shop.ask(one, { method, uri: path.replace('{n}', String(1 + this.pick(40))), reply: { ok: true } });
    const found = Array.from({ length: 8 }, () => this.any(this.things));
    const admin = path.slice(0, path.indexOf('/', 1));
    this.shop.ask(one, { uri: `${admin}/search?q=open`, reply: this.shape.wrap(found.map(({ id }) => this.view(id))) });
    for (const { id } of found.slice(0, 4)) this.read(one, id);
  }

  private logIn(): void {
    const { number, ip } = this.at(this.any(this.people));
    const ask = (status: number): string =>
      this.shop.ask(
        { number, ip, headers: [] },
        { method: 'POST', uri: '/auth/login', status, body: { email: `u${number}@x.example`, password: `p${number}` } },
      );
    while (this.random() < 0.12) ask(401);
    ask(200);
  }

  /** A client does something. */
  live(): void {
    const who = this.any(this.people);
    const what = this.random();
    if (what < 0.1) this.create(who);
    else if (what < 0.42) this.list(who);
    else if (what < 0.62) this.readOwn(who);
    else if (what < 0.72) this.write(who);
    else if (what < 0.82) this.follow();
    else if (what < 0.88) this.serve();
    else if (what < 0.94) this.logIn();
    else this.shop.ask(this.at(who), { uri: '/me', reply: { name: 'n' } });
  }

  /** From a list that it has in mind. */
  private readOwn(who: Person): void {
    const own = [...(this.seenBy.get(who.number) ?? [])];
    if (own.length > 0) this.read(who, this.any(own.slice(-20)));
  }

  private see(who: Person, id: string | number): void {
    const seen = this.seenBy.get(who.number) ?? new Set();
    this.seenBy.set(who.number, seen.add(id));
  }
}
