// What a report says of a finding, in the order of who has to act on it: what is wrong, how it is fixed, the code, and
// then what else it gave.
import { For, Show, type JSX } from 'solid-js';
import type { Reply } from '../../../client/http.js';
import { Foreign, ForeignLines } from '../../../kit/basics.js';
import { vulnText as text } from '../../../texts/vm/vulnerabilities.js';
import { codeLines, fixOf } from './told-parts.js';

export type Detail = Reply<'GET /api/v1/vulnerabilities/{id}'>;

const textMax = 20_000;

function Part(props: { readonly title: string; readonly children: JSX.Element }): JSX.Element {
  return (
    <section class="stack tight">
      <h3>{props.title}</h3>
      {props.children}
    </section>
  );
}

function Code(props: { readonly lines: ReturnType<typeof codeLines> }): JSX.Element {
  return (
    <div class="code numbered">
      <For each={props.lines}>
        {({ number, text: line }) => (
          <>
            <span class="faint nums">{number ?? ''}</span>
            <Foreign text={line} max={2000} />
          </>
        )}
      </For>
    </div>
  );
}

/** Description, remediation and code: what people open a finding for. */
export function Told(props: { readonly of: Detail }): JSX.Element {
  const fix = () => fixOf(props.of.fix);
  const lines = () => codeLines(props.of.location_detail);
  return (
    <>
      <Show when={props.of.description !== ''}>
        <Part title={text.description}>
          <div class="prose">
            <ForeignLines text={props.of.description} max={textMax} />
          </div>
        </Part>
      </Show>
      <Show when={fix().version !== '' || fix().words !== ''}>
        <Part title={text.howToFix}>
          <Show when={fix().version !== ''}>
            <p>
              {text.fixedIn} <Foreign text={fix().version} max={200} />
            </p>
          </Show>
          <Show when={fix().words !== ''}>
            <div class="prose">
              <ForeignLines text={fix().words} max={textMax} />
            </div>
          </Show>
        </Part>
      </Show>
      <Show when={lines().length > 0 || props.of.source_url !== null}>
        <Part title={text.code}>
          <Show when={lines().length > 0}>
            <Code lines={lines()} />
          </Show>
          <Show when={props.of.source_url}>
            {(url) => (
              <p>
                <a href={url()} target="_blank" rel="noopener noreferrer">
                  {text.openInRepository}
                </a>
              </p>
            )}
          </Show>
        </Part>
      </Show>
    </>
  );
}

/** A link only where it leads to a web page: a report may name any address, `javascript:` too. */
function Reference(props: { readonly url: string }): JSX.Element {
  const isWeb = (): boolean => /^https?:\/\//i.test(props.url) && URL.canParse(props.url);
  return (
    <li>
      <Show when={isWeb()} fallback={<Foreign text={props.url} max={500} />}>
        <a href={props.url} target="_blank" rel="noopener noreferrer">
          <Foreign text={props.url} max={500} />
        </a>
      </Show>
    </li>
  );
}

/** What else the report gave: requests and answers, and where more can be read. */
export function Given(props: { readonly of: Detail }): JSX.Element {
  return (
    <>
      <Show when={props.of.evidence.length > 0}>
        <Part title={text.evidence}>
          <div class="code">
            <ForeignLines text={JSON.stringify(props.of.evidence, null, 2)} max={textMax} />
          </div>
        </Part>
      </Show>
      <Show when={props.of.references.length > 0}>
        <Part title={text.references}>
          <ul class="stack tight">
            <For each={props.of.references}>{(url) => <Reference url={url} />}</For>
          </ul>
        </Part>
      </Show>
    </>
  );
}
