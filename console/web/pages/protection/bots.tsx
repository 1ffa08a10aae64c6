import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused, type Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { TextField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';
import { Table, type TableColumn } from '../../kit/table/table.js';
import { ofRows } from '../../kit/table/table-source.js';
import { protectionText as words } from '../../texts/protection.js';

type Crawler = Reply<'GET /api/bots'>['crawlers'][number];
type Verified = Reply<'POST /api/bots/verify'>;

/** Asks the name service now whether an address is the crawler that it claims to be. */
function Verify(): JSX.Element {
  const [ip, setIp] = createSignal('');
  const [userAgent, setUserAgent] = createSignal('');
  const [found, setFound] = createSignal<Verified | null>(null);
  const [problem, setProblem] = createSignal<string | null>(null);
  const [isBusy, setBusy] = createSignal(false);
  const verify = async (): Promise<void> => {
    setBusy(true);
    setProblem(null);
    setFound(null);
    try {
      setFound(await call('POST /api/bots/verify', { body: { ip: ip().trim(), user_agent: userAgent() } }));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error.message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title={words.whoSays}>
      <div class="stack">
        <Show when={problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
        <div class="grid-2">
          <TextField label={words.address} value={ip()} onInput={setIp} />
          <TextField label={words.whatSaysItselfUser} value={userAgent()} onInput={setUserAgent} />
        </div>
        <div>
          <Button isBusy={isBusy()} disabled={ip().trim() === ''} onClick={() => void verify()}>
            {words.findOut}
          </Button>
        </div>
        <Show when={found()}>
          {(result) => (
            <Notice tone={result().verdict === 'verified' ? 'good' : 'warn'} title={result().verdict}>
              <Foreign text={`${result().detail} ${result().names.join(', ')}`} />
            </Notice>
          )}
        </Show>
      </div>
    </Card>
  );
}

/** Crawlers that came, and whether they are who they say. */
export function Bots(): JSX.Element {
  const bots = createQuery('GET /api/bots', () => ({}), { everyMs: 10_000 });
  const columns: readonly TableColumn<Crawler>[] = [
    { title: words.crawler, sortBy: (one) => one.crawler, cell: (one) => one.crawler },
    { title: words.kind, sortBy: (one) => one.kind, cell: (one) => one.kind },
    { title: words.verified, isNumber: true, sortBy: (one) => one.verified, cell: (one) => showCount(one.verified) },
    { title: words.impostors, isNumber: true, sortBy: (one) => one.impostor, cell: (one) => showCount(one.impostor) },
    {
      title: words.notKnown,
      isNumber: true,
      sortBy: (one) => one.unverified,
      cell: (one) => showCount(one.unverified),
    },
  ];
  return (
    <>
      <Read of={bots}>
        {(data) => (
          <Card isFlush title={words.crawlers} actions={<Badge>{data().action}</Badge>}>
            <Table
              label={words.crawlers}
              columns={columns}
              of={ofRows(() => data().crawlers)}
              keyOf={(one) => one.crawler}
              empty={words.noCrawlerCameSince}
            />
          </Card>
        )}
      </Read>
      <Show when={mayAs('operator')}>
        <Verify />
      </Show>
    </>
  );
}
