import type { Metric } from './types.ts';

const whole = new Intl.NumberFormat();
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat(undefined, {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const finePercent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 2 });
const place = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const finePlace = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });
const shareOfAll = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 });

/** Shown where there is no number. */
const NONE = '–';

export const METRIC_NAMES: Readonly<Record<Metric, string>> = {
  clicks: 'Clicks',
  impressions: 'Impressions',
  ctr: 'CTR',
  position: 'Position',
};

/** A number of a metric as text; long ones are shortened. */
export function formatMetric(metric: Metric, value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return NONE;
  if (metric === 'ctr') return percent.format(shownMetric(metric, value));
  if (metric === 'position') return place.format(shownMetric(metric, value));
  return value >= 100_000 ? compact.format(value) : whole.format(Math.round(value));
}

/** A ratio as it is shown: the CTR to a tenth of a percent, a position to a tenth. Zero where there is none. */
export function shownMetric(metric: Metric, value: number | null): number {
  const scale = metric === 'ctr' ? 1000 : 10;
  return Math.round((value ?? 0) * scale) / scale;
}

/** The same number with all that is known of it, for hovering over it. */
export function exactMetric(metric: Metric, value: number | null | undefined): string {
  if (value === null || value === undefined) return 'No impressions';
  if (metric === 'ctr') return finePercent.format(value);
  return metric === 'position' ? place.format(value) : whole.format(value);
}

/** For the axes of charts. */
export function axisMetric(metric: Metric, value: number): string {
  if (metric === 'ctr') return finePercent.format(value);
  return value >= 10_000 ? compact.format(value) : whole.format(value);
}

export function formatCount(value: number): string {
  return whole.format(value);
}

export function formatShare(value: number): string {
  return value > 0 && value < 0.01 ? '< 1 %' : shareOfAll.format(value);
}

/** `1 query`, `3 queries`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${whole.format(count)} ${count === 1 ? one : many}`;
}

export function formatPercent(value: number): string {
  return percent.format(value);
}

/** The difference of two percentages: `0.3 pt`. */
export function formatPoints(value: number): string {
  return `${(value > 0 && value < 0.001 ? finePlace : place).format(100 * value)} pt`;
}

/** `12.0×`. */
export function formatTimes(value: number): string {
  return `${place.format(value)}×`;
}

const regions = new Intl.DisplayNames(undefined, { type: 'region', fallback: 'code' });

/** Countries by both ISO codes, which are seldom a prefix of one another: the browser names them by the second. */
const COUNTRY_CODES = `
  usaUS gbrGB deuDE fraFR espES itaIT nldNL belBE cheCH autAT polPL prtPT sweSE norNO dnkDK finFI irlIE czeCZ
  svkSK hunHU rouRO bgrBG grcGR turTR ukrUA rusRU canCA mexMX braBR argAR chlCL colCO perPE venVE uryUY ausAU
  nzlNZ jpnJP chnCN korKR indIN idnID thaTH vnmVN phlPH mysMY sgpSG hkgHK twnTW pakPK bgdBD lkaLK areAE sauSA
  isrIL egyEG marMA dzaDZ tunTN zafZA ngaNG kenKE ghaGH hrvHR srbRS svnSI estEE lvaLV ltuLT luxLU islIS mltMT
  cypCY bihBA mkdMK albAL blrBY mdaMD geoGE armAM azeAZ kazKZ uzbUZ irnIR irqIQ jorJO lbnLB kwtKW qatQA omnOM
  bhrBH nplNP mmrMM khmKH ecuEC bolBO pryPY criCR panPA gtmGT domDO cubCU hndHN slvSV nicNI priPR jamJM ttoTT
  ethET tzaTZ ugaUG cmrCM civCI senSN
`;
const alpha2 = new Map(
  COUNTRY_CODES.trim()
    .split(/\s+/)
    .map((codes): [string, string] => [codes.slice(0, 3), codes.slice(3)]),
);

/** The name of a country by its three letters; the letters where it is not known. */
export function countryName(code: string): string {
  if (code === 'other') return 'Other countries';
  if (code === 'zzz') return 'Unknown';
  const short = alpha2.get(code);
  return short === undefined ? code.toUpperCase() : (regions.of(short) ?? code.toUpperCase());
}
