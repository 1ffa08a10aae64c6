import { createSignal, For, Show, type JSX } from 'solid-js';
import { call, Refused, type Reply } from '../../client/http.js';
import { showCount } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { mayAs } from '../../client/session.js';
import { Badge, Button, Card, Empty, Foreign, Notice } from '../../kit/basics.js';
import { TextField } from '../../kit/form.js';
import { Read } from '../../kit/page-state.js';

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
    <Card title="Is it who it says?">
      <div class="stack">
        <Show when={problem()}>{(text) => <Notice tone="danger">{text()}</Notice>}</Show>
        <div class="grid-2">
          <TextField label="Address" value={ip()} onInput={setIp} />
          <TextField label="What it says of itself (User-Agent)" value={userAgent()} onInput={setUserAgent} />
        </div>
        <div>
          <Button isBusy={isBusy()} disabled={ip().trim() === ''} onClick={() => void verify()}>
            Find out
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
  return (
    <>
      <Read of={bots}>
        {(data) => (
          <Card isFlush title="Crawlers" actions={<Badge>{data().action}</Badge>}>
            <Show when={data().crawlers.length > 0} fallback={<Empty title="No crawler came since the nodes began" />}>
              <div class="table-scroll">
                <table class="table">
                  <thead>
                    <tr>
                      <th>Crawler</th>
                      <th>Kind</th>
                      <th class="num">Verified</th>
                      <th class="num">Impostors</th>
                      <th class="num">Not known</th>
                    </tr>
                  </thead>
                  <tbody>
                    <For each={data().crawlers}>
                      {(one) => (
                        <tr>
                          <td>{one.crawler}</td>
                          <td>{one.kind}</td>
                          <td class="num">{showCount(one.verified)}</td>
                          <td class="num">{showCount(one.impostor)}</td>
                          <td class="num">{showCount(one.unverified)}</td>
                        </tr>
                      )}
                    </For>
                  </tbody>
                </table>
              </div>
            </Show>
          </Card>
        )}
      </Read>
      <Show when={mayAs('operator')}>
        <Verify />
      </Show>
    </>
  );
}
