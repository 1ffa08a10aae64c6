// How other gateways, meshes and traces tell what they saw: commands to copy.
import { A } from '@solidjs/router';
import { For, type JSX } from 'solid-js';
import { Card } from '../../kit/basics.js';
import { CopyButton } from '../../kit/copy.js';
import { apisText as text } from '../../texts/apis/inventory.js';

const examples = [
  [text.gateway, text.gatewayAbout, text.gatewayCommand],
  [text.events, text.eventsAbout, text.eventsCommand],
  [text.mesh, text.meshAbout, text.meshCommand],
  [text.traces, text.tracesAbout, text.tracesCommand],
] as const;

export function Sources(): JSX.Element {
  return (
    <>
      <div>
        <A class="button" href="/admin/tokens">
          {text.toTokens}
        </A>
      </div>
      <div class="grid-2">
        <For each={examples}>
          {([title, about, command]) => (
            <Card title={title} actions={<CopyButton of={command(window.location.origin)} kind="command" />}>
              <div class="stack tight">
                <p class="muted">{about}</p>
                <pre class="code">{command(window.location.origin)}</pre>
              </div>
            </Card>
          )}
        </For>
      </div>
    </>
  );
}
