# bash completion for tosac; made by gen-cli
_tosac()
{
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local options valued
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        COMPREPLY=($(compgen -W "--help --version compile quantize run explain compare inspect verify opt" -- "$current"))
        return
    fi
    case ${COMP_WORDS[1]} in
    compile)
        options='--target -t --output -o --emit --calib --quant -q --cpu --vela-ini --system-config --memory-mode --optimise --vela-timeout --max-scratch --check --dump-dir --dump-after --json --threads --kernels --help -h --version '
        valued='|--target|-t|--output|-o|--emit|--calib|--quant|-q|--cpu|--vela-ini|--system-config|--memory-mode|--optimise|--vela-timeout|--max-scratch|--dump-dir|--dump-after|--threads|--kernels|'
        ;;
    quantize)
        options='--calib --merge --quant -q --output -o --qparams --observe-only --keep-odd-samples --json --threads --kernels --help -h --version '
        valued='|--calib|--merge|--quant|-q|--output|-o|--qparams|--threads|--kernels|'
        ;;
    run)
        options='--input -i --output -o --steps --reset --raw --bench --json --threads --kernels --help -h --version '
        valued='|--input|-i|--output|-o|--steps|--bench|--threads|--kernels|'
        ;;
    explain)
        options='--target -t --calib --quant -q --cpu --json --threads --kernels --help -h --version '
        valued='|--target|-t|--calib|--quant|-q|--cpu|--threads|--kernels|'
        ;;
    compare)
        options='--input -i --most --json --threads --kernels --help -h --version '
        valued='|--input|-i|--most|--threads|--kernels|'
        ;;
    inspect)
        options='--json --threads --kernels --help -h --version '
        valued='|--threads|--kernels|'
        ;;
    verify)
        options='--target -t --json --threads --kernels --help -h --version '
        valued='|--target|-t|--threads|--kernels|'
        ;;
    opt)
        options='--pass --output -o --dump-after --no-loc --arena-limit --json --threads --kernels --help -h --version '
        valued='|--pass|--output|-o|--dump-after|--arena-limit|--threads|--kernels|'
        ;;
    esac
    if [[ $current == -* && $valued != *"|$before|"* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    else
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}
complete -o filenames -F _tosac tosac
