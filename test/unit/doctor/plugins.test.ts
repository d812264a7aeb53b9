import { expect, it } from 'vitest';
import { pluginsCheck } from '../../../src/doctor/checks/plugins.js';

const options = { dir: '.', env: {} };
const validation = (module: string, name: string) => ({ module, name, description: '' });

it('has nothing to say where no plugins are configured', async () => {
  expect(await pluginsCheck.run(options)).toEqual([]);
});

it('has a finding for each module: what it brings, or why it does not load', async () => {
  const validations = [validation('/a.js', 'one'), validation('/b.js', 'three'), validation('/a.js', 'two')];
  const broken = [{ module: '/c.js', reason: 'there is no file /c.js' }];
  const findings = await pluginsCheck.run({ ...options, plugins: async () => ({ validations, broken }) });
  expect(findings).toMatchObject([
    { status: 'ok', found: '/a.js brings one, two' },
    { status: 'ok', found: '/b.js brings three' },
    { status: 'warn', found: '/c.js does not load: there is no file /c.js' },
  ]);
});

it('is a finding when they cannot be looked at', async () => {
  const plugins = () => Promise.reject(new Error('no processes'));
  expect(await pluginsCheck.run({ ...options, plugins })).toMatchObject([{ status: 'warn' }]);
});
