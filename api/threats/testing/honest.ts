// What honest people do in a shop: their own orders by lists and pages, products of all, documents of teams, support
// staff who look after everybody, a manager, crawlers, and people who only follow links.
import { person, randomOf, Shop, type CredentialStyle, type Person } from './shop.js';

export interface Order {
  readonly id: number;
  readonly owner: Person;
}

export interface World {
  readonly shop: Shop;
  readonly users: readonly Person[];
  readonly orders: Order[];
  readonly ordersOf: Map<number, Order[]>;
}

const teamSize = 5;
const pageSize = 20;

const teamsOf = (world: World): number[][] =>
  Array.from({ length: world.users.length / teamSize }, (_, team) =>
    Array.from({ length: 8 }, (__, index) => 5000 + team * 8 + index),
  );
const orderView = ({ id, owner }: Order) => ({ id, customer_id: owner.number, items: [{ id: 1, product_id: 3 }] });

class HonestPeople {
  private readonly random: () => number;
  private readonly documents: number[][];
  private readonly staff: Person[];
  private readonly manager: Person;

  constructor(
    private readonly world: World,
    seed: number,
    style: CredentialStyle,
  ) {
    this.random = randomOf(seed);
    this.documents = teamsOf(world);
    this.staff = Array.from({ length: 4 }, (_, index) => person(9000 + index, style));
    this.manager = person(9100, style);
  }

  private pick(count: number): number {
    return Math.floor(this.random() * count);
  }

  private list(user: Person): void {
    const { shop, ordersOf } = this.world;
    const own = ordersOf.get(user.number) ?? [];
    const page = this.pick(Math.max(1, Math.ceil(own.length / pageSize)));
    const items = own.slice(page * pageSize, (page + 1) * pageSize).map(orderView);
    shop.ask(user, { uri: `/api/orders?page=${page + 1}`, reply: { items, total: own.length } });
    for (const { id } of items.slice(0, this.pick(6))) this.read(user, id);
  }

  private read(user: Person, id: number): void {
    this.world.shop.ask(user, { uri: `/api/orders/${id}`, reply: orderView({ id, owner: user }) });
  }

  order(user: Person): void {
    const { shop, orders, ordersOf } = this.world;
    const id = 1000 + orders.length;
    const made = { id, owner: user };
    orders.push(made);
    ordersOf.set(user.number, [...(ordersOf.get(user.number) ?? []), made]);
    shop.ask(user, { method: 'POST', uri: '/api/orders', status: 201, body: { product_id: 3 }, reply: { id } });
    if (this.random() < 0.5) this.read(user, id);
  }

  private product(user: Person | null): void {
    const { shop } = this.world;
    const some = (): number => 1 + Math.floor(this.random() ** 2 * 1500);
    if (this.random() < 0.2) {
      const products = Array.from({ length: pageSize }, () => ({ id: some() }));
      shop.ask(user, { uri: `/api/products?page=${1 + this.pick(75)}`, reply: { products } });
      return;
    }
    const id = some();
    shop.ask(user, { uri: `/api/products/${id}`, reply: { id, name: 'x' } });
  }

  private document(user: Person): void {
    const { shop } = this.world;
    const own = this.documents[Math.floor((user.number - 1) / teamSize)] ?? [];
    if (this.random() < 0.4)
      shop.ask(user, { uri: '/api/documents', reply: { documents: own.map((id) => ({ id, title: 't' })) } });
    else shop.ask(user, { uri: `/api/documents/${own[this.pick(own.length)]}`, reply: { title: 't' } });
  }

  private support(): void {
    const { shop, orders } = this.world;
    const one = this.staff[this.pick(this.staff.length)] as Person;
    const found = Array.from({ length: 10 }, () => orders[this.pick(orders.length)] as Order);
    shop.ask(one, { uri: '/api/admin/orders?status=open', reply: { orders: found.map(orderView) } });
    for (const { id, owner } of found) {
      shop.ask(one, { uri: `/api/orders/${id}`, reply: orderView({ id, owner }) });
      if (this.random() < 0.3) shop.ask(one, { uri: `/api/customers/${owner.number}`, reply: { id: owner.number } });
    }
  }

  private manage(): void {
    const { shop, users } = this.world;
    const id = 1 + this.pick(1500);
    shop.ask(this.manager, { method: 'POST', uri: '/api/admin/products', status: 201, reply: { id } });
    shop.ask(this.manager, { uri: `/api/admin/users/${1 + this.pick(users.length)}`, reply: {} });
  }

  private profile(user: Person): void {
    const { shop } = this.world;
    shop.ask(user, { uri: '/api/me', reply: { customer: { id: user.number }, name: 'n' } });
    shop.ask(user, { uri: `/api/customers/${user.number}`, reply: { id: user.number, name: 'n' } });
  }

  private logIn(user: Person): void {
    const body = { email: `user${user.number}@shop.example`, password: `p${user.number}` };
    const status = this.random() < 0.1 ? 401 : 200;
    const asked = { method: 'POST', uri: '/api/login', status, body, reply: { ok: true } };
    this.world.shop.ask({ ...user, headers: [] }, asked);
  }

  /** Somebody does something. */
  live(): void {
    const { users } = this.world;
    const user = users[this.pick(users.length)] as Person;
    const what = this.random();
    if (what < 0.3) this.list(user);
    else if (what < 0.38) this.order(user);
    else if (what < 0.62) this.product(this.random() < 0.3 ? null : user);
    else if (what < 0.8) this.document(user);
    else if (what < 0.84) this.support();
    else if (what < 0.86) this.manage();
    else if (what < 0.95) this.profile(user);
    else this.logIn(user);
  }
}

/** `requests` of honest people; `act` is asked before each whether somebody else has his turn. */
export function honest(
  world: World,
  seed: number,
  requests: number,
  act: (at: number) => void = () => undefined,
  style: CredentialStyle = 'jwt',
): void {
  const people = new HonestPeople(world, seed, style);
  for (const user of world.users) people.order(user);
  while (world.shop.requests < requests) {
    act(world.shop.requests);
    people.live();
  }
}

export const newWorld = (userCount: number, style: CredentialStyle = 'jwt', key?: Uint8Array): World => ({
  shop: new Shop(key),
  users: Array.from({ length: userCount }, (_, index) => person(index + 1, style)),
  orders: [],
  ordersOf: new Map(),
});
