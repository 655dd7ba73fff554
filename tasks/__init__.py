"""Operations as Prefect tasks: ids in, small values out."""
