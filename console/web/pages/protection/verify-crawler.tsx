import { createSignal, Show, type JSX } from 'solid-js';
import { call, Refused, type Reply } from '../../client/http.js';
import { Button, Card, Foreign, Notice } from '../../kit/basics.js';
import { TextField } from '../../kit/form.js';
import { protectionText as words } from '../../texts/protection.js';

type Verified = Reply<'POST /api/bots/verify'>;

/** Asks the name service now whether an address is the crawler that it claims to be. */
export function Verify(): JSX.Element {
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
