import { createSignal, type JSX } from 'solid-js';
import { call, linkTo, Refused, type Item } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createPagedList } from '../../client/pages.js';
import { Button, Card, Foreign, PageHead } from '../../kit/basics.js';
import { FilterBar, useFilters } from '../../kit/filter-bar.js';
import { tell, tellProblem } from '../../kit/overlays.js';
import { Table, type TableColumn, type TableSource } from '../../kit/table/table.js';
import { ofPages } from '../../kit/table/table-source.js';
import { adminText as text } from '../../texts/admin.js';

type Entry = Item<'GET /api/audit'>;

const filterNames = ['q', 'actor', 'action', 'role', 'source_ip', 'from', 'to'];

function EntryTable(props: { readonly of: TableSource<Entry> }): JSX.Element {
  const columns: readonly TableColumn<Entry>[] = [
    { title: text.when, class: 'nums', sortBy: (entry) => entry.at, cell: (entry) => showMoment(entry.at) },
    {
      title: text.who,
      cell: (entry) => (
        <>
          <Foreign text={entry.actor} max={80} /> <span class="faint">{entry.role}</span>
        </>
      ),
    },
    { title: text.action, class: 'mono', sortBy: (entry) => entry.action, cell: (entry) => entry.action },
    { title: text.what, cell: (entry) => <Foreign text={entry.summary} max={300} /> },
    { title: text.from, class: 'mono', sortBy: (entry) => entry.source_ip, cell: (entry) => entry.source_ip },
  ];
  return (
    <Table
      label={text.auditLog}
      columns={columns}
      of={props.of}
      keyOf={(entry) => String(entry.id)}
      empty={text.noEntries}
    />
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
      if (ok) tell(text.chainWholeEntries(checked));
      else tell(text.chainBrokenAtEntry(first_broken?.id ?? '?', first_broken?.reason ?? ''), true);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      tellProblem(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <PageHead title={text.auditLog} about={text.whoDidWhatFrom}>
        <a class="button" href={linkTo('GET /api/audit/export', filters())} download="audit.csv">
          {text.exportAsCsvUtc}
        </a>
        <Button icon="check" isBusy={isBusy()} onClick={() => void verify()}>
          {text.verifyChain}
        </Button>
      </PageHead>
      <FilterBar names={filterNames} placeholder={text.wordsOrActorAction} />
      <Card isFlush>
        <EntryTable of={ofPages(list)} />
      </Card>
    </>
  );
}
