// Businesses of many shapes, as a table: how their objects are called, numbered, listed, shared and answered. The bar
// of abuse findings is held on all of them, so that nothing is tuned to one shop.
import type { CredentialStyle } from '../shop.js';

export interface Shape {
  readonly name: string;
  readonly style: CredentialStyle;
  readonly list: string;
  /** Of one object; `{id}` stands for its id. */
  readonly one: string;
  readonly id: (count: number, random: () => number) => string | number;
  /** Of the members of a list; `page` is the name of the query's parameter. */
  readonly wrap: (items: readonly object[]) => unknown;
  readonly idName: string;
  /** What stands behind an object, and what it answers about object `id`. */
  readonly parts: Readonly<Record<string, (id: string | number) => unknown>>;
  /** How many people hold one object. */
  readonly holders: number;
  /** Objects are made by staff, and not by who holds them. */
  readonly isMadeByStaff?: boolean;
  /** Writing answers 204 with a media type. */
  readonly isSilent?: boolean;
  /** Share of lists that are longer than what is kept of an answer. */
  readonly bigShare?: number;
  /** The list goes by the number of a person whom no answer has shown: `/users/{me}/orders`. */
  readonly isListedByPerson?: boolean;
  /** Share of objects that their owner sends to others as a link, and whether the link is their own address. */
  readonly linkShare?: number;
  /** Path of a link with a token of its own; absent: the object's own path. */
  readonly linkPath?: string;
  /** Functions of staff. */
  readonly functions: readonly (readonly [method: string, path: string])[];
  /** Staff has a role in its token. */
  readonly hasRoles?: boolean;
  /** People come from another address now and then. */
  readonly roams?: boolean;
}

const hex = (random: () => number, count: number): string =>
  Array.from({ length: count }, () => Math.floor(random() * 16).toString(16)).join('');
const uuid = (_: number, random: () => number): string =>
  `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-a${hex(random, 3)}-${hex(random, 12)}`;
const counter =
  (from: number, step = 1) =>
  (count: number): number =>
    from + count * step;
const key = (_: number, random: () => number): string => {
  const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
  return `${Array.from({ length: 22 }, () => letters[Math.floor(random() * letters.length)]).join('')}7x`;
};

export const shapes: readonly Shape[] = [
  {
    ...{ name: 'carts', style: 'session', list: '/shop/carts', one: '/shop/carts/{id}', id: counter(100_400) },
    ...{ wrap: (carts) => ({ carts, total: carts.length }), idName: 'id', holders: 1, roams: true },
    parts: { invoice: (id) => ({ id, total: 12 }), items: () => ({ items: [{ id: 1, sku: 'A-1' }] }) },
    functions: [
      ['GET', '/shop/admin/users'],
      ['PUT', '/shop/admin/products/{n}'],
    ],
  },
  {
    ...{ name: 'tickets', style: 'jwt', list: '/rest/tickets', one: '/rest/tickets/{id}', hasRoles: true },
    id: (count) => `OPS-${1000 + count}`,
    ...{ wrap: (issues) => ({ issues }), idName: 'key', holders: 2 },
    parts: { comments: (key) => ({ key, comments: [{ text: 'x' }] }), history: () => [] },
    functions: [
      ['GET', '/rest/admin/queues'],
      ['DELETE', '/rest/admin/tickets/{n}'],
    ],
  },
  {
    ...{ name: 'messages', style: 'jwt', list: '/v1/conversations', one: '/v1/conversations/{id}', id: uuid },
    ...{ wrap: (data) => ({ data, paging: {} }), idName: 'id', holders: 2, isSilent: true },
    parts: { messages: (conversation_id) => ({ data: [{ id: 1, conversation_id }] }) },
    functions: [['GET', '/v1/internal/moderation']],
  },
  {
    ...{ name: 'files', style: 'session', list: '/drive/files', one: '/drive/files/{id}', id: key },
    ...{ wrap: (entries) => entries, idName: 'file_id', holders: 1, linkShare: 0.25, bigShare: 0.2 },
    parts: { content: () => 'text', versions: (id) => ({ id, versions: [] }) },
    functions: [['GET', '/drive/admin/quota']],
  },
  {
    ...{ name: 'banks', style: 'jwt', list: '/bank/accounts', one: '/bank/accounts/{id}', id: counter(40_001_900, 7) },
    ...{ wrap: (accounts) => ({ accounts }), idName: 'accountNumber', holders: 1, isMadeByStaff: true, hasRoles: true },
    parts: {
      transactions: (account_id) => ({ account_id, transactions: [{ amount: 3 }] }),
      balance: (id) => ({ account: { id }, balance: 3 }),
    },
    functions: [
      ['POST', '/bank/manage/limits'],
      ['GET', '/bank/admin/customers'],
    ],
  },
  {
    ...{ name: 'clinics', style: 'api-key', list: '/fhir/appointments', one: '/fhir/appointments/{id}' },
    ...{ id: counter(7000), wrap: (entry) => ({ resourceType: 'Bundle', entry }), idName: 'id', holders: 1 },
    ...{ isMadeByStaff: true, isListedByPerson: true, bigShare: 0.1 },
    parts: { report: (id) => ({ id, text: 'x' }) },
    functions: [['GET', '/fhir/admin/audit']],
  },
  {
    ...{ name: 'devices', style: 'api-key', list: '/iot/devices', one: '/iot/devices/{id}', id: uuid },
    ...{ wrap: (devices) => ({ devices }), idName: 'uuid', holders: 1, isSilent: true },
    parts: { state: () => ({ on: true }), settings: (uuid) => ({ uuid, level: 3 }) },
    functions: [['PUT', '/iot/admin/firmware']],
  },
  {
    ...{ name: 'bookings', style: 'session', list: '/travel/bookings', one: '/travel/bookings/{id}', roams: true },
    ...{ id: counter(2_000_000, 3), wrap: (bookings) => ({ _embedded: { bookings } }), idName: 'id', holders: 1 },
    ...{ linkShare: 0.2, linkPath: '/travel/share/{token}', isSilent: true },
    parts: { ticket: (booking_id) => ({ booking_id, seat: '3A' }) },
    functions: [['GET', '/travel/backoffice/refunds']],
  },
  {
    ...{ name: 'schools', style: 'jwt', list: '/lms/submissions', one: '/lms/submissions/{id}', id: counter(1) },
    ...{ wrap: (submissions) => ({ submissions }), idName: 'id', holders: 1, hasRoles: true, bigShare: 0.3 },
    parts: { grade: (id) => ({ id, grade: 'B' }) },
    functions: [
      ['GET', '/lms/manage/courses'],
      ['PATCH', '/lms/manage/grades/{n}'],
    ],
  },
  {
    ...{ name: 'payroll', style: 'jwt', list: '/hr/payslips', one: '/hr/payslips/{id}', id: counter(881_000, 11) },
    ...{ wrap: (results) => ({ results, next: null }), idName: 'id', holders: 1, isMadeByStaff: true },
    parts: { document: (payslip_id) => ({ payslip_id, pages: 2 }) },
    functions: [
      ['GET', '/hr/admin/employees'],
      ['POST', '/hr/admin/salaries'],
    ],
  },
  {
    ...{ name: 'projects', style: 'session', list: '/saas/projects', one: '/saas/projects/{id}', id: counter(300) },
    ...{ wrap: (projects) => ({ projects }), idName: 'id', holders: 5, isSilent: true },
    parts: { tasks: (project_id) => ({ tasks: [{ id: 1, project_id }] }), board: () => ({ columns: [] }) },
    functions: [['GET', '/saas/admin/billing']],
  },
  {
    ...{ name: 'albums', style: 'jwt', list: '/photo/albums', one: '/photo/albums/{id}', id: key, roams: true },
    ...{ wrap: (albums) => ({ result: { albums } }), idName: 'id', holders: 1, linkShare: 0.4 },
    parts: { pictures: () => ({ pictures: [{ name: 'a' }] }) },
    functions: [['DELETE', '/photo/admin/abuse/{n}']],
  },
];
