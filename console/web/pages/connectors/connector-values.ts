// A connector of the settings as its form holds it, and back.
export const connectorKinds = ['splunk_hec', 'elasticsearch', 'sentinel', 'syslog', 'cef', 'webhook'] as const;
export type ConnectorKind = (typeof connectorKinds)[number];

export interface StoredConnector {
  readonly name: string;
  readonly kind: ConnectorKind;
  readonly enabled: boolean;
  readonly target: string;
  readonly token: string | null;
  readonly index: string;
  readonly options: Readonly<Record<string, string>>;
}

export interface ConnectorForm {
  readonly name: string;
  readonly kind: ConnectorKind;
  readonly isOn: boolean;
  readonly target: string;
  /** What was typed; '' keeps what is stored. */
  readonly token: string;
  readonly index: string;
  /** One a line, `name=value`. */
  readonly options: string;
}

export const hasToken = (kind: ConnectorKind): boolean => kind !== 'syslog' && kind !== 'cef';
export const hasIndex = (kind: ConnectorKind): boolean => kind === 'splunk_hec' || kind === 'elasticsearch';

/** Options without which a kind cannot work, as the control plane says it (api/siem/connector.ts). */
export const neededOptions: Readonly<Record<ConnectorKind, readonly string[]>> = {
  splunk_hec: [],
  elasticsearch: [],
  sentinel: ['tenant_id', 'client_id', 'dcr_id', 'stream'],
  syslog: [],
  cef: [],
  webhook: [],
};

export const blankConnector: ConnectorForm = {
  name: '',
  kind: 'webhook',
  isOn: true,
  target: '',
  token: '',
  index: '',
  options: '',
};

export const formOf = ({ name, kind, enabled, target, index, options }: StoredConnector): ConnectorForm => ({
  name,
  kind,
  isOn: enabled,
  target,
  token: '',
  index,
  options: Object.entries(options)
    .map(([option, value]) => `${option}=${value}`)
    .join('\n'),
});

const optionsOf = (typed: string): Record<string, string> =>
  Object.fromEntries(
    typed
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map((line) => {
        const at = line.indexOf('=');
        return at === -1 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
      }),
  );

/** As it is sent; a token that is stored stays where none was typed. */
export const connectorOf = (form: ConnectorForm, before: StoredConnector | null): StoredConnector => ({
  name: form.name.trim() === '' ? form.kind.replaceAll('_', '-') : form.name.trim(),
  kind: form.kind,
  enabled: form.isOn,
  target: form.target.trim(),
  token: !hasToken(form.kind) ? null : form.token === '' ? (before?.token ?? null) : form.token,
  index: hasIndex(form.kind) ? form.index.trim() : '',
  options: optionsOf(form.options),
});
