// A chart is read by keys and by the mouse: a day opens, a range is dragged, a marker says what it stands for, a picture is saved.
import { readFile } from 'node:fs/promises';
import { settled } from './browser.ts';
import { axeFindings, onPage, open } from './setup.ts';

onPage(
  'a day of the chart narrows the view to it, by a click, by keys and in the table; a range by dragging',
  {},
  async (t, page) => {
    const days = (): number => {
      const { searchParams } = new URL(page.url());
      return (Date.parse(searchParams.get('to')!) - Date.parse(searchParams.get('from')!)) / 86_400_000 + 1;
    };
    await open(page, '/app/p/Proj1?also=impressions');
    const chart = page.locator('.performance .chart-canvas');
    const { x, y, width } = (await chart.boundingBox())!;
    await page.mouse.move(x + width / 2, y + 60);
    await page.mouse.click(x + width / 2, y + 60);
    await page.waitForURL(/from=/);
    t.equal(days(), 1);
    await page.goBack();
    await settled(page);
    await chart.focus();
    await page.keyboard.press('Home');
    const spoken = page.locator('.performance [role=status]').first();
    t.match(
      await spoken.innerText(),
      /^\w+, \w+ \d+, \d{4}, Clicks: [\d,]+ \([\d,]+ compared\), Impressions: [\d,]+ \([\d,]+ compared\)$/,
    );
    const first = await spoken.innerText();
    await page.keyboard.press('ArrowRight');
    t.not(await spoken.innerText(), first, 'the next day');
    await page.keyboard.press('Enter');
    await page.waitForURL(/from=/);
    t.equal(days(), 1);
    await page.goBack();
    await settled(page);
    await page.locator('.performance').getByRole('button', { name: 'Table' }).click();
    await page.locator('.chart-table tbody button').first().click();
    await page.waitForURL(/from=/);
    t.equal(days(), 1);
    await open(page, '/app/p/Proj1');
    await page.mouse.move(x + width / 2, y + 60);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.75, y + 60, { steps: 5 });
    await page.mouse.up();
    await page.waitForURL(/from=/);
    t.ok(days() > 4 && days() < 11, `${days()} of 28 days`);
  },
);

onPage('a marker opens what it stands for, by keys too, and leads there', {}, async (t, page) => {
  await open(page, '/app/p/Proj1');
  const alert = page.getByRole('button', { name: /Alert: Fell/ });
  await alert.focus();
  await page.keyboard.press('Enter');
  await page.locator('.marker-box').getByText('Fell:').waitFor();
  t.strictSame(await axeFindings(page), [], 'axe');
  await page.keyboard.press('Escape');
  await page.locator('.marker-box').waitFor({ state: 'detached' });
  await alert.click();
  await page.getByRole('link', { name: 'Open the alert' }).click();
  await page.waitForURL(/\/alerts\?alert=0{8}-/);
});

onPage('a chart is saved as a picture, and a list as CSV and as a workbook', {}, async (t, page) => {
  for (const [path, role, button, name, begin] of [
    ['', 'button', 'PNG', /\.png$/, '\u0089PNG'],
    ['/queries', 'link', 'CSV of all rows', /^shop\.example-queries-[-\d]+\.csv$/, '\u00ef\u00bb\u00bfquery,clicks,'],
    ['/queries', 'button', 'XLSX of all rows', /^shop\.example-queries-[-\d]+\.xlsx$/, 'PK'],
  ] as const) {
    await open(page, `/app/p/Proj1${path}`);
    const saving = page.waitForEvent('download');
    await page.getByRole(role, { name: button }).first().click();
    const saved = await saving;
    t.match(saved.suggestedFilename(), name);
    t.ok((await readFile(await saved.path(), 'latin1')).startsWith(begin), button);
  }
});
