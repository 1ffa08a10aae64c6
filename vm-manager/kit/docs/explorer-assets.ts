// The explorer's script and style sheet. All text of the document is set as text, never as markup.

export const script = `'use strict';
const main = document.getElementById('main');
const make = (name, text, parent) => {
  const made = document.createElement(name);
  if (text !== null) made.textContent = text;
  if (parent) parent.append(made);
  return made;
};
const whole = (spec, value) => {
  if (Array.isArray(value)) return value.map((item) => whole(spec, item));
  if (value === null || typeof value !== 'object') return value;
  if (typeof value.$ref === 'string')
    return whole(spec, value.$ref.slice(2).split('/').reduce((at, name) => at[name], spec));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, whole(spec, item)]));
};
const show = (spec) => {
  main.replaceChildren();
  const sections = new Map();
  for (const [path, methods] of Object.entries(spec.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const tag = operation.tags[0];
      if (!sections.has(tag)) {
        const section = make('section', null, main);
        make('h2', tag, section);
        sections.set(tag, section);
      }
      sections.get(tag).append(one(spec, path, method, operation));
    }
};
const one = (spec, path, method, operation) => {
  const details = document.createElement('details');
  details.dataset.words = (method + ' ' + path + ' ' + operation.summary).toLowerCase();
  const summary = make('summary', null, details);
  make('b', method.toUpperCase(), summary).className = method;
  make('code', path, summary);
  make('span', operation.summary, summary);
  make('p', operation.description, details);
  const inputs = operation.parameters.map((parameter) => {
    const label = make('label', parameter.name + (parameter.required ? ' *' : ''), details);
    const input = make('input', null, label);
    input.title = JSON.stringify(parameter.schema);
    return { parameter, input };
  });
  const json = operation.requestBody && operation.requestBody.content['application/json'];
  const body = json ? make('textarea', '{}', details) : null;
  if (json) make('pre', JSON.stringify(whole(spec, json.schema), null, 1), details);
  const button = make('button', 'Send', details);
  const output = make('pre', null, details);
  button.addEventListener('click', () => send(path, method, inputs, body, output));
  make('h3', 'Answers', details);
  const answers = make('pre', '', details);
  // thousands of lines, which nobody reads before the entry is opened
  const tell = () => (answers.textContent ||= JSON.stringify(whole(spec, operation.responses), null, 1));
  details.addEventListener('toggle', tell, { once: true });
  return details;
};
const send = async (path, method, inputs, body, output) => {
  const query = new URLSearchParams();
  let url = path;
  for (const { parameter, input } of inputs) {
    if (parameter.in === 'path') url = url.replace('{' + parameter.name + '}', encodeURIComponent(input.value));
    else if (input.value !== '') query.set(parameter.name, input.value);
  }
  const token = document.getElementById('token').value;
  const headers = { 'x-gatehouse-request': '1' };
  if (token) headers.authorization = 'Bearer ' + token;
  if (body) headers['content-type'] = 'application/json';
  try {
    const reply = await fetch(url + (query.size ? '?' + query : ''), {
      method: method.toUpperCase(), headers, body: body ? body.value : undefined });
    output.textContent = reply.status + '\\n' + await reply.text();
  } catch (error) {
    output.textContent = String(error);
  }
};
document.getElementById('find').addEventListener('input', (event) => {
  const words = event.target.value.toLowerCase();
  for (const details of main.querySelectorAll('details')) details.hidden = !details.dataset.words.includes(words);
});
fetch(main.dataset.document).then((reply) => reply.json()).then(show, (error) => { main.textContent = String(error); });
`;

export const styles = `:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; }
header { display: flex; flex-wrap: wrap; gap: 1rem; align-items: baseline; }
details { border: 1px solid #8886; border-radius: 6px; margin: 0.4rem 0; padding: 0.4rem 0.8rem; }
summary { cursor: pointer; display: flex; gap: 0.8rem; align-items: baseline; flex-wrap: wrap; }
summary b { min-width: 4.5rem; }
summary span { opacity: 0.75; }
label { display: block; margin: 0.3rem 0; }
input, textarea, button { font: inherit; padding: 0.3rem 0.5rem; }
textarea { display: block; width: 100%; min-height: 6rem; box-sizing: border-box; }
pre { overflow: auto; max-height: 24rem; background: #8882; padding: 0.6rem; border-radius: 6px; }
`;
