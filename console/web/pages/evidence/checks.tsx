// What verification says of a pack, check by check.
import { For, type JSX } from 'solid-js';
import type { Reply } from '../../client/http.js';
import { Badge, Foreign, Notice } from '../../kit/basics.js';
import { evidenceText as text } from '../../texts/resources/evidence.js';

type Verified = Reply<'POST /api/v1/evidence/{id}/verify'>;
type Check = Verified['checks'][number];

const checkTone = (ok: Check['ok']) => (ok === null ? 'neutral' : ok ? 'good' : 'danger');

export function Checks(props: { readonly of: Verified }): JSX.Element {
  return (
    <Notice tone={props.of.ok ? 'good' : 'danger'} title={props.of.ok ? text.verified : text.broken}>
      <ul class="stack tight">
        <For each={props.of.checks}>
          {({ name, ok, detail }) => (
            <li>
              <Badge tone={checkTone(ok)}>{text.result[`${ok}`]}</Badge> {text.checkNames[name]}:{' '}
              <Foreign text={detail} max={300} />
            </li>
          )}
        </For>
      </ul>
    </Notice>
  );
}
