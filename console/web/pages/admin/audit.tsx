import { createSignal, type JSX } from 'solid-js';
import { call, linkTo, Refused, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Button, Card, Foreign, PageHead } from '../../kit/basics.js';
import { FilterBar, useFilters } from '../../kit/filter-bar.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Table, type TableColumn, type TableSource } from '../../kit/table.js';
import { ofPages } from '../../kit/table-source.js';

type Entry = Item<'GET /api/audit'>;

const filterNames = ['q', 'actor', 'action', 'role', 'source_ip', 'from', 'to'];

function EntryTable(props: { readonly of: TableSource<Entry> }): JSX.Element {
  const columns: readonly TableColumn<Entry>[] = [
    { title: 'When', class: 'nums', sortBy: (entry) => entry.at, cell: (entry) => showMoment(entry.at) },
    {
      title: 'Who',
      cell: (entry) => (
        <>
          <Foreign text={entry.actor} max={80} /> <span class="faint">{entry.role}</span>
        </>
      ),
    },
    { title: 'Action', class: 'mono', sortBy: (entry) => entry.action, cell: (entry) => entry.action },
    { title: 'What', cell: (entry) => <Foreign text={entry.summary} max={300} /> },
    { title: 'From', class: 'mono', sortBy: (entry) => entry.source_ip, cell: (entry) => entry.source_ip },
  ];
  return (
    <Table label="Audit log" columns={columns} of={props.of} keyOf={(entry) => String(entry.id)} empty="No entries" />
  );
}

/** Who did what, in a chain that shows when an entry was changed or taken out. */
export function Audit(): JSX.Element {
  const filters = useFilters(filterNames);
  const list = createPagedList('GET /api/audit', () => filters());
  const [isBusy, setBusy] = createSignal(false);
  const verify = async (): Promise<void> => {
    setBusy(true);
    try {
      const { ok, checked, first_broken } = await call('GET /api/audit/verify');
      if (ok) tell(`The chain is whole: ${checked} entries.`);
      else tell(`The chain is broken at entry ${first_broken?.id ?? '?'}: ${first_broken?.reason ?? ''}`, true);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <PageHead title="Audit log" about="Who did what, and from where. Entries are chained by their hashes.">
        <a class="button" href={linkTo('GET /api/audit/export', filters())} download="audit.csv">
          Export as CSV (UTC)
        </a>
        <Button icon="check" isBusy={isBusy()} onClick={() => void verify()}>
          Verify the chain
        </Button>
      </PageHead>
      <FilterBar names={filterNames} placeholder="Words, or actor:…, action:login, source_ip:…" />
      <Card isFlush>
        <EntryTable of={ofPages(list)} />
      </Card>
    </>
  );
}
