# bash completion for tosac; made by gen-cli
_tosac()
{
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local options valued words
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W "--help --version compile quantize run explain compare evaluate generate inspect verify profile advise report opt doctor targets boards ops emulate calibrate-board" -- "$current"))
        return
    fi
    case ${COMP_WORDS[1]} in
    compile)
        options='--target -t --board --output -o --emit --input -i --locations --etrecord --report --certificate --dump-dir --calib --preprocess --quant -q --cpu --float --rate --goal --labels --keep-odd-samples --reset --system --optimise --max-scratch --share-weights --marks --kernels --shaders --image --strict --firmware --strict-fit --check --no-execute --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--board|--output|-o|--emit|--input|-i|--etrecord|--report|--certificate|--dump-dir|--calib|--preprocess|--quant|-q|--cpu|--float|--rate|--goal|--labels|--system|--optimise|--max-scratch|--marks|--kernels|--shaders|--image|--firmware|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    quantize)
        options='--calib --preprocess --merge --quant -q --float --rate --target -t --board --output -o --qparams --report --budget --observe-only --keep-odd-samples --all-samples --reset --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--calib|--preprocess|--merge|--quant|-q|--float|--rate|--target|-t|--board|--output|-o|--qparams|--report|--budget|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    run)
        options='--input -i --preprocess --output -o --method --steps --reset --raw --tosa --dequantize --device --bench --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--input|-i|--preprocess|--output|-o|--method|--steps|--device|--bench|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    explain)
        options='--target -t --board --calib --quant -q --cpu --float --rate --system --optimise --cost --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--board|--calib|--quant|-q|--cpu|--float|--rate|--system|--optimise|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    compare)
        options='--input -i --preprocess --dequantize --report --most --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--input|-i|--preprocess|--report|--most|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    evaluate)
        options='--data --labels --perplexity --preprocess --most --dequantize --tosa --device --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--data|--labels|--preprocess|--most|--device|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    generate)
        options='--tokenizer --prompt --tokens -n --temperature --top-k --seed --stop --context --tosa --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--tokenizer|--prompt|--tokens|-n|--temperature|--top-k|--seed|--stop|--context|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    inspect)
        options='--disassemble --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    verify)
        options='--target -t --firmware --board --strict-fit --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--firmware|--board|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    profile)
        options='--target -t --board --by --top --estimate --etdump --pmu --overlay --into --ticks --method --calib --quant -q --cpu --float --rate --system --optimise --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--board|--by|--top|--etdump|--pmu|--overlay|--into|--ticks|--method|--calib|--quant|-q|--cpu|--float|--rate|--system|--optimise|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    advise)
        options='--target -t --board --tries --calib --quant -q --cpu --float --rate --system --optimise --report --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--board|--tries|--calib|--quant|-q|--cpu|--float|--rate|--system|--optimise|--report|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    report)
        options='--output -o --csv --fail-on --markdown --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--output|-o|--csv|--fail-on|--markdown|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    opt)
        options='--pass --target -t --calib --quant -q --output -o --dump-after --no-loc --arena-limit --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--pass|--target|-t|--calib|--quant|-q|--output|-o|--dump-after|--arena-limit|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    doctor)
        options='--json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    targets)
        options='--json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    boards)
        options='--json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    ops)
        options='--target -t --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    emulate)
        options='--target -t --report --verify --cache --clock --qemu --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--target|-t|--clock|--qemu|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    calibrate-board)
        options='--board --output -o --json --quiet --round --threads --reference --dim --shape --set --signature --dynamic-range --help -h --version '
        valued='|--board|--output|-o|--threads|--dim|--shape|--set|--signature|--dynamic-range|'
        ;;
    esac
    [ "$before" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}
    [ "$current" != = ] || { before=${COMP_WORDS[COMP_CWORD-1]} current=; }
    words=
    case $before in
    --target | -t) words='TOSA-1.0+INT TOSA-1.0+FP TOSA-1.0+INT+FP ethos-u55-32 ethos-u55-64 ethos-u55-128 ethos-u55-256 ethos-u65-256 ethos-u65-512 ethos-u85-128 ethos-u85-256 ethos-u85-512 ethos-u85-1024 ethos-u85-2048 vgf cortex-m0plus cortex-m3 cortex-m4 cortex-m7 cortex-m33 cortex-m55 cortex-m85 cpu' ;;
    --board) words='corstone-300-fvp mps3-an547 mps3-an552 corstone-310-fvp corstone-315-fvp corstone-320-fvp alif-e3-hp alif-e3-he alif-e7-hp alif-e7-he alif-e8-hp alif-e8-he alif-e8-u85 himax-we2 nxp-imx93 renesas-ra8p1 nuvoton-m55m1 infineon-psoc-edge-e84 nucleo-f446re nucleo-l476rg nucleo-f767zi nucleo-h743zi nucleo-h563zi nucleo-u575zi-q nrf52840-dk nrf5340-dk nrf54l15-dk rpi-pico rpi-pico2 mimxrt1060-evk renesas-ek-ra8d1' ;;
    --quant | -q) words='int8 best int8+16:4 a16w8 a8w4 a16w4 none anchor mxfp8 mxfp6 mxfp4 mxint8' ;;
    --emit) words='tosa vgf pte pte+tosa stream ir c tflite bpte pack library model-explorer' ;;
    --shaders) words='auto all resample samplers none' ;;
    --optimise) words='Performance Size' ;;
    --kernels) words='plain cmsis-nn' ;;
    --dynamic-range) words='keep real' ;;
    esac
    [[ $valued == *"|$before|"* ]] || words=
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
        compopt +o filenames 2>/dev/null
    elif [[ $current == -* && $valued != *"|$before|"* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    else
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}
complete -o filenames -F _tosac tosac
