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

export const DEVICE_NAMES: Readonly<Record<string, string>> = {
  desktop: 'Desktop',
  mobile: 'Mobile',
  tablet: 'Tablet',
};

/** `Product snippets` for PRODUCT_SNIPPETS. */
export function appearanceName(name: string): string {
  const words = name.replaceAll('_', ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

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
  // Without the noise of binary fractions, which would make 0.0285 * 1000 less than a half.
  return Math.round(Number(((value ?? 0) * scale).toPrecision(14))) / scale;
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

/** A percentage that somebody typed as the ratio that is stored, without the noise of binary fractions. */
export function ratioOf(typed: number): number {
  return Number((typed / 100).toPrecision(12));
}

/** A stored ratio as the percentage to type. */
export function percentageOf(ratio: number): number {
  return Number((ratio * 100).toPrecision(12));
}

/** The name of a metric or another field inside of a sentence. */
export function nameInSentence(name: string): string {
  return name === METRIC_NAMES.ctr ? name : name.toLowerCase();
}

/** A limit that somebody has set, as exactly as it was set: `2%`, `3.5`. */
export function formatBound(metric: Metric, value: number): string {
  return metric === 'ctr' ? finePercent.format(value) : finePlace.format(value);
}

export function formatCount(value: number): string {
  return whole.format(value);
}

export function formatShare(value: number): string {
  return value > 0 && value < 0.01 ? '< 1%' : shareOfAll.format(value);
}

/** `1 query`, `3 queries`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${whole.format(count)} ${count === 1 ? one : many}`;
}

/** A ratio in percent with all that is said of it: `2.5%`, `0.34%`. */
export function formatFinePercent(value: number): string {
  return finePercent.format(value);
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
  afgAF alaAX albAL dzaDZ asmAS andAD agoAO aiaAI ataAQ atgAG argAR armAM abwAW ausAU autAT azeAZ bhsBS bhrBH bgdBD
  brbBB blrBY belBE blzBZ benBJ bmuBM btnBT bolBO besBQ bihBA bwaBW bvtBV braBR iotIO brnBN bgrBG bfaBF bdiBI cpvCV
  khmKH cmrCM canCA cymKY cafCF tcdTD chlCL chnCN cxrCX cckCC colCO comKM cogCG codCD cokCK criCR civCI hrvHR cubCU
  cuwCW cypCY czeCZ dnkDK djiDJ dmaDM domDO ecuEC egyEG slvSV gnqGQ eriER estEE swzSZ ethET flkFK froFO fjiFJ finFI
  fraFR gufGF pyfPF atfTF gabGA gmbGM geoGE deuDE ghaGH gibGI grcGR grlGL grdGD glpGP gumGU gtmGT ggyGG ginGN gnbGW
  guyGY htiHT hmdHM vatVA hndHN hkgHK hunHU islIS indIN idnID irnIR irqIQ irlIE imnIM isrIL itaIT jamJM jpnJP jeyJE
  jorJO kazKZ kenKE kirKI prkKP korKR kwtKW kgzKG laoLA lvaLV lbnLB lsoLS lbrLR lbyLY lieLI ltuLT luxLU macMO mdgMG
  mwiMW mysMY mdvMV mliML mltMT mhlMH mtqMQ mrtMR musMU mytYT mexMX fsmFM mdaMD mcoMC mngMN mneME msrMS marMA mozMZ
  mmrMM namNA nruNR nplNP nldNL nclNC nzlNZ nicNI nerNE ngaNG niuNU nfkNF mkdMK mnpMP norNO omnOM pakPK plwPW psePS
  panPA pngPG pryPY perPE phlPH pcnPN polPL prtPT priPR qatQA reuRE rouRO rusRU rwaRW blmBL shnSH knaKN lcaLC mafMF
  spmPM vctVC wsmWS smrSM stpST sauSA senSN srbRS sycSC sleSL sgpSG sxmSX svkSK svnSI slbSB somSO zafZA sgsGS ssdSS
  espES lkaLK sdnSD surSR sjmSJ sweSE cheCH syrSY twnTW tjkTJ tzaTZ thaTH tlsTL tgoTG tklTK tonTO ttoTT tunTN turTR
  tkmTM tcaTC tuvTV ugaUG ukrUA areAE gbrGB usaUS umiUM uryUY uzbUZ vutVU venVE vnmVN vgbVG virVI wlfWF eshEH yemYE
  zmbZM zweZW xkkXK
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
