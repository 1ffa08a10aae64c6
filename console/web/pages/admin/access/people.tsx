// Everybody with an account, to be read by who administers none of them: auditors, whether by role or by grant.
import { useSearchParams } from '@solidjs/router';
import type { JSX } from 'solid-js';
import type { Item, Query } from '../../../client/http.js';
import { showMoment } from '../../../client/moments.js';
import { createPagedList } from '../../../client/pages.js';
import { Badge, Foreign } from '../../../kit/basics.js';
import { AddressFilters } from '../../../kit/fields/address-filters.js';
import { ListCard } from '../../../kit/table/list-card.js';
import type { TableColumn } from '../../../kit/table/table.js';
import { adminText as words } from '../../../texts/admin.js';
import { rolesText as text } from '../../../texts/resources/roles.js';

type Account = Item<'GET /api/v1/users'>;

/** As many as one answer holds; others are found by words. */
const listMax = 500;

const columns: readonly TableColumn<Account>[] = [
  {
    title: words.who,
    sortBy: ({ email }) => email,
    cell: ({ email, name }) => (
      <>
        <Foreign text={email} />
        <div class="faint">
          <Foreign text={name} />
        </div>
      </>
    ),
  },
  { title: words.role, sortBy: ({ role }) => role, cell: ({ role }) => role },
  {
    title: words.state,
    cell: ({ status, mfa }) => (
      <div class="row wrap">
        <Badge tone={status === 'active' ? 'good' : 'danger'}>
          {status === 'active' ? words.active : words.suspended}
        </Badge>
        <Badge tone={mfa ? 'good' : 'neutral'}>{mfa ? words.twoFactors : words.passwordOnly}</Badge>
      </div>
    ),
  },
  { title: words.lastLogin, class: 'nums', cell: (one) => showMoment(one.last_login_at) },
];

export function People(): JSX.Element {
  const [search] = useSearchParams();
  const question = (): Pick<Query<'GET /api/v1/users'>, 'q'> =>
    typeof search['q'] === 'string' && search['q'] !== '' ? { q: search['q'] } : {};
  const list = createPagedList('GET /api/v1/users', question, listMax);
  return (
    <>
      <AddressFilters of={[{ name: 'q', label: text.wordsOfPerson }]} />
      <ListCard
        label={words.users}
        title={words.users}
        columns={columns}
        list={list}
        keyOf={({ id }) => id}
        empty={words.thereAreNoUsers}
      />
    </>
  );
}
