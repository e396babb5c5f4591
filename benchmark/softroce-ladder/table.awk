# Prints the rungs from lines "NAME RTT_US TPUT_MIB".
BEGIN {
    title["perftest"] = "ib_send_lat, ib_send_bw"
    title["librpma"] = "C on librpma"
    title["io.rpma"] = "Java on io.rpma"
    title["RpmaChannel"] = "RpmaChannel"
    printf "%-26s %14s %14s %14s %14s\n", "two processors, " used, "64 B there and", "to the one", "64 KiB one", "of the one"
    printf "%-26s %14s %14s %14s %14s\n", "", "back, us", "below, us", "way, MiB/s", "below"
}
{
    printf "%-26s %14.1f %14s %14.0f %14s\n", title[$1], $2, (NR > 1 ? sprintf("%+.1f", $2 - rtt) : ""), $3, \
        (NR > 1 ? sprintf("%.0f %%", 100 * $3 / tput) : "")
    rtt = $2
    tput = $3
    of_rtt[$1] = $2
    of_tput[$1] = $3
}
END {
    printf "RpmaChannel's round trip is %.2f of C's on librpma (at most 2.5); its throughput is %.0f %% of ib_send_bw's (at least 90 %%)\n", \
        of_rtt["RpmaChannel"] / of_rtt["librpma"], 100 * of_tput["RpmaChannel"] / of_tput["perftest"]
}
