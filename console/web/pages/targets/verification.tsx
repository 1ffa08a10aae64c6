// Ownership of a target: the proof to set, and the button that looks for it. The same for its entry at the firewall
// where that is another origin.
import { createSignal, For, Show, type JSX } from 'solid-js';
import { createAction } from '../../client/action.js';
import { call, type Reply } from '../../client/http.js';
import { showMoment } from '../../client/moments.js';
import { createQuery } from '../../client/query.js';
import { Button, Foreign, Notice } from '../../kit/basics.js';
import { SelectField } from '../../kit/form.js';
import { tell } from '../../kit/overlays.js';
import { Read } from '../../kit/page-state.js';
import { activeText as text } from '../../texts/vm/sources/active-scans.js';
import { isVerified } from '../scans/active/scan-result.js';
import { Probe } from './probe.js';
import { LoginOfScans } from './login-of-scans.js';

type Answer = Reply<'GET /api/v1/targets/{id}/verification'>;
type Ways = Pick<Answer, 'file' | 'header' | 'dns' | 'site'>;
const methods = ['file', 'header', 'dns', 'site'] as const;
type Method = (typeof methods)[number];

const linesOf = ({ file, header, dns, site }: Ways, method: Method): readonly string[] => {
  if (method === 'file') return [file.url, `${text.contents} ${file.contents}`];
  if (method === 'header') return [header.url, `${header.name}: ${header.value}`];
  return method === 'dns' ? [`${dns.name} ${dns.type}`, dns.value] : [site];
};

function Prove(props: {
  readonly id: string;
  readonly of: 'target' | 'waf';
  readonly ways: Ways;
  readonly mayVerify: boolean;
  readonly onProved: () => void;
}): JSX.Element {
  const [method, setMethod] = createSignal<Method>('file');
  const action = createAction();
  const look = async (): Promise<void> => {
    const options = { params: { id: props.id }, body: { method: method(), of: props.of } };
    if (!(await action.run(() => call('POST /api/v1/targets/{id}/verify', options)))) return;
    tell(text.verifiedNow);
    props.onProved();
  };
  return (
    <>
      <SelectField
        label={text.method}
        value={method()}
        options={methods.map((name) => [name, text[name]] as const)}
        onChange={setMethod}
      />
      <ul class="code">
        <For each={linesOf(props.ways, method())}>
          {(line) => (
            <li>
              <Foreign text={line} max={600} />
            </li>
          )}
        </For>
      </ul>
      <Show when={action.problem()}>{(found) => <Notice tone="danger">{found()}</Notice>}</Show>
      <Show when={props.mayVerify}>
        <div>
          <Button isBusy={action.isBusy()} onClick={() => void look()}>
            {text.lookFor(text[method()])}
          </Button>
        </div>
      </Show>
    </>
  );
}

function Standing(props: { readonly at: string | null; readonly by: string | null; readonly needs: string }) {
  return (
    <Show when={props.at} fallback={<p>{props.needs}</p>}>
      {(at) => <p>{(isVerified(at()) ? text.verified : text.ended)(props.by ?? '', showMoment(at()))}</p>}
    </Show>
  );
}

export function Verification(props: { readonly id: string; readonly mayRun: boolean }): JSX.Element {
  const ways = createQuery('GET /api/v1/targets/{id}/verification', () => ({ params: { id: props.id } }));
  const again = (): void => void ways.reload();
  return (
    <Read of={ways}>
      {(answer) => (
        <div class="stack">
          <h3>{text.verification}</h3>
          <Standing at={answer().verified_at} by={answer().verified_by} needs={text.needsProof} />
          <Prove id={props.id} of="target" ways={answer()} mayVerify={props.mayRun} onProved={again} />
          <Show when={answer().waf}>
            {(waf) => (
              <>
                <h3>{text.wafTitle}</h3>
                <p class="mono small">
                  <Foreign text={waf().url} max={300} />
                </p>
                <Standing
                  at={waf().verified_at}
                  by={waf().verified_by}
                  needs={waf().is_tried ? text.wafSame : text.wafNeeds}
                />
                <Show when={!waf().is_tried}>
                  <Prove id={props.id} of="waf" ways={waf()} mayVerify={props.mayRun} onProved={again} />
                </Show>
              </>
            )}
          </Show>
          <Show when={props.mayRun}>
            <Probe id={props.id} />
          </Show>
          <LoginOfScans id={props.id} identity="first" mayChange={props.mayRun} />
          <LoginOfScans id={props.id} identity="second" mayChange={props.mayRun} />
        </div>
      )}
    </Read>
  );
}
