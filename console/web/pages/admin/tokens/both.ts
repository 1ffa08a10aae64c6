// Tokens of both halves as one list: what each opens, by its beginning, and what it is held to.
import type { Item } from '../../../client/http.js';
import type { PagedList } from '../../../client/pages.js';
import type { TableSource } from '../../../kit/table/table.js';

export type FirewallToken = Item<'GET /api/tokens'>;
export type ManagerToken = Item<'GET /api/v1/tokens'>;

export type TokenRow =
  | { readonly of: 'firewall'; readonly token: FirewallToken }
  | { readonly of: 'manager'; readonly token: ManagerToken };

/** Ids of the two halves are counted apart. */
export const keyOf = ({ of, token }: TokenRow): string => `${of} ${token.id}`;

const newestFirst = (one: TokenRow, other: TokenRow): number =>
  Date.parse(other.token.created_at) - Date.parse(one.token.created_at);

/** What opens something stands before what was revoked, the newest first. */
export function toRows(firewall: readonly FirewallToken[], manager: readonly ManagerToken[]): readonly TokenRow[] {
  const all: TokenRow[] = [
    ...firewall.map((token) => ({ of: 'firewall', token }) as const),
    ...manager.map((token) => ({ of: 'manager', token }) as const),
  ];
  const rank = ({ token }: TokenRow): number => (token.revoked_at === null ? 0 : 1);
  return all.sort((one, other) => rank(one) - rank(other) || newestFirst(one, other));
}

/** Both lists as one: it is there when both are, and fails as either does. */
export const ofBoth = (
  firewall: PagedList<FirewallToken>,
  manager: PagedList<ManagerToken>,
): TableSource<TokenRow> => ({
  get rows() {
    return toRows(firewall.items(), manager.items());
  },
  get problem() {
    return firewall.problem() ?? manager.problem();
  },
  get isLoading() {
    return firewall.isLoading() || manager.isLoading();
  },
  get hasMore() {
    return firewall.hasMore() || manager.hasMore();
  },
  get isAnswered() {
    return firewall.isAnswered() && manager.isAnswered();
  },
  retry: () => {
    firewall.reload();
    manager.reload();
  },
  readMore: () => {
    if (firewall.hasMore()) firewall.readMore();
    if (manager.hasMore()) manager.readMore();
  },
});
